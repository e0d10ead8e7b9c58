// What a document costs each process of the distributed deployment: processor time, memory, bytes in PostgreSQL, Kafka and the
// archive. With one, two and four instances of each service; with one also long invoices, and invoices to a buyer that receives them on
// this gateway. `npm run sizing` calculates with the figures that BENCH_SAVE=true writes to bench/sizing.measured.json.
//
// BENCH_CALLS (3000) documents a round, after BENCH_WARM_UP (1500); BENCH_INSTANCES (1,2,4); BENCH_IDLE_SECONDS (20).
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { benchFolder } from './harness/ending.js';
import { createLoad } from './harness/load.js';
import { heading, line } from './harness/report.js';
import { type Idle, idleOf, type Measured, type Run, runOf } from './sizing/measured.js';
import { Probe } from './sizing/probe.js';
import { type InvoiceForm, type Subject, startSubject } from './subject/subject.js';

const CALLS = Number(process.env.BENCH_CALLS ?? 3_000);
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 1_500);
const INSTANCES = (process.env.BENCH_INSTANCES ?? '1,2,4').split(',').map(Number);
const IDLE_SECONDS = Number(process.env.BENCH_IDLE_SECONDS ?? 20);
const DRAWS = 500;
const FILE = new URL('../sizing.measured.json', import.meta.url);
const CALLERS = 32;
const LINES = 10;
const LONG = 100;

const folder = benchFolder();
const date = formatDocumentDate(toCalendarDate(new Date()));
const runs: Run[] = [];
const idle: Idle[] = [];
let drawMs = Number.NaN;
for (const instances of INSTANCES) {
  await measure(instances);
  if (process.env.BENCH_SAVE === 'true') save();
}

function save(): void {
  const measured: Measured = {
    date: new Date().toISOString().slice(0, 10),
    version: execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
    machine: `${os.cpus().length} cores ${os.cpus()[0]?.model}, Node ${process.versions.node}`,
    drawMs,
    idle,
    runs,
  };
  fs.writeFileSync(FILE, `${JSON.stringify(measured, null, 2)}\n`);
}

async function measure(instances: number): Promise<void> {
  const dataDir = path.join(folder, String(instances));
  const subject = await startSubject(dataDir, date, LINES, 'distributed', { INSTANCES: String(instances) });
  const probe = new Probe(subject.standalone, dataDir);
  try {
    const settled = async () => {
      // Until then an event may be on its way from a table to the next.
      for (let times = 0; times < 2; times += 1) await probe.quiet(subject.standalone.demo.metrics_url);
      await subject.decided();
    };
    await submit(subject, WARM_UP, {}, CALLERS * instances);
    await settled();
    const before = await probe.spent();
    await delay(IDLE_SECONDS * 1_000);
    idle.push(idleOf(instances, IDLE_SECONDS, before, await probe.spent()));
    const round = async (kind: Run['kind'], lines: number, count: number, form: InvoiceForm) => {
      const stored = await probe.stored();
      probe.forgetPeaks();
      const [spent, began] = [await probe.spent(), performance.now()];
      await submit(subject, count, form, CALLERS * instances);
      const sentSeconds = (performance.now() - began) / 1_000;
      const connections = await probe.connections();
      await settled();
      const seconds = (performance.now() - began) / 1_000;
      const facts = {
        kind,
        lines,
        instances,
        documents: count,
        sentSeconds,
        seconds,
        connections,
        peaks: probe.peaks(),
      };
      const run = runOf(facts, { spent, stored }, { spent: await probe.spent(), stored: await probe.stored() });
      runs.push(run);
      print(run);
    };
    await round('issued', LINES, CALLS, {});
    if (instances > 1) return;
    await round('issued', LONG, Math.ceil(CALLS / 3), { lines: LONG });
    await round('exchanged', LINES, Math.ceil(CALLS / 3), { buyer: subject.standalone.demo.buyer_rnc });
    drawMs = await probe.drawMs(DRAWS);
    line(`a draw of an automatic number with its commit: ${drawMs.toFixed(2)} ms`);
  } finally {
    await probe.close();
    await subject.standalone.end('SIGTERM');
  }
}

/** Submits by as many callers at each gateway. */
async function submit(subject: Subject, count: number, form: InvoiceForm, callers: number): Promise<void> {
  const calls = subject.nextCalls(count, form);
  const gateways = subject.standalone.processes().filter(({ name }) => name.startsWith('gateway'));
  await Promise.all(
    gateways.map(async ({ url }, index) => {
      const load = createLoad(url as string, (status) => status === 200);
      await load.round(
        calls.filter((_, n) => n % gateways.length === index),
        callers / gateways.length,
      );
      load.close();
    }),
  );
}

function print(run: Run): void {
  const { kind, lines, instances, documents } = run;
  heading(`${kind}, ${lines} lines, ${instances} of each service, ${documents} documents, ${run.rate.toFixed(0)}/s`);
  line('processor milliseconds a document (of them on the main thread), largest resident set in MiB');
  for (const [name, { ms, mainMs, mebibytes }] of Object.entries(run.processes))
    line(`  ${name}: ${ms.toFixed(2)} (${mainMs.toFixed(2)}), ${mebibytes.toFixed(0)}`);
  const list = (figures: Record<string, number>, digits: number) =>
    Object.entries(figures)
      .filter(([, figure]) => Math.abs(figure) >= 0.5 / 10 ** digits)
      .map(([name, figure]) => `${name} ${figure.toFixed(digits)}`)
      .join(', ');
  line(`PostgreSQL, milliseconds by database: ${list(run.postgres, 2)}; connections ${list(run.connections, 0)}`);
  line(`bytes a document in tables: ${list(run.tables, 0)}; WAL ${run.wal.toFixed(0)}`);
  line(`bytes a document in topics: ${list(run.topics, 0)}; archive ${list(run.archive, 1)}`);
}
