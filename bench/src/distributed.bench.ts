// POST /fe_Submit on the distributed deployment, against the standalone one in the same run: rate, p50, p99, processor time a document;
// a batch against 32 callers; from a POST to the read model on both, with one caller and with many; memory of each process, idle and
// after the load.
//
// BENCH_ROUNDS (3), BENCH_CALLS (500) and BENCH_ARRIVALS (150) make it shorter or longer; BENCH_SECONDS (180) ends it.
import path from 'node:path';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { openDatabase } from '@ecf/postgres';
import { embeddedDatabaseUrl } from '@ecf/test-servers/deployment';
import { benchFolder, endAfter } from './harness/ending.js';
import { createLoad } from './harness/load.js';
import { median, percentile } from './harness/measure.js';
import { residentBytes } from './harness/processes.js';
import { heading, line } from './harness/report.js';
import { arrivals } from './subject/read-model.js';
import { type Subject, startSubject } from './subject/subject.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const CALLS = Number(process.env.BENCH_CALLS ?? 500);
const ARRIVALS = Number(process.env.BENCH_ARRIVALS ?? 150);
const CALLERS = 32;
const LINES = 10;
const MEBIBYTE = 1024 * 1024;

const SECONDS = Number(process.env.BENCH_SECONDS ?? 180);
endAfter(SECONDS);
const ends = Date.now() + SECONDS * 1_000;
/** Share of the time that is left: on a slow machine the later parts are shorter, so that all figures are printed. */
const left = () => (ends - Date.now()) / (SECONDS * 1_000);
const folder = benchFolder();
const subjects: Subject[] = [];
try {
  await run();
} finally {
  for (const { standalone } of subjects) await standalone.end('SIGTERM');
}

async function run(): Promise<void> {
  const date = formatDocumentDate(toCalendarDate(new Date()));
  const names = ['standalone', 'distributed'] as const;
  for (const name of names) subjects.push(await startSubject(path.join(folder, name), date, LINES, name));
  line(`both deployments are up after ${(SECONDS * (1 - left())).toFixed(0)} s`);
  const [standalone, distributed] = subjects as [Subject, Subject];
  const idle = [...memory(standalone), ...memory(distributed)];
  const rates: Record<string, number[]> = { standalone: [], distributed: [] };
  const latencies: Record<string, number[]> = { standalone: [], distributed: [] };
  /** Milliseconds of processor time a document, with all background work. */
  const costs: Record<string, number[]> = { standalone: [], distributed: [] };
  /** Rate of a batch until the last verdict, as a multiple of that of the callers. */
  const batches: Record<string, number[]> = { standalone: [], distributed: [] };
  const calls = Math.max(100, Math.round(left() > 0.7 ? CALLS : CALLS * left()));
  for (const { nextCalls, decided, standalone } of subjects) {
    await round(standalone.demo.base_url, nextCalls(Math.ceil(calls / 5)));
    await decided();
  }
  let rounds = 0;
  for (; rounds < ROUNDS && (rounds === 0 || left() > 0.5); rounds += 1)
    for (const [index, subject] of subjects.entries()) {
      const name = names[index] as string;
      const [before, began] = [subject.processorSeconds(), performance.now()];
      const { seconds, latencies: each } = await round(subject.standalone.demo.base_url, subject.nextCalls(calls));
      rates[name]?.push(calls / seconds);
      latencies[name]?.push(...each);
      await subject.decided();
      costs[name]?.push(((subject.processorSeconds() - before) / calls) * 1_000);
      const ofCallers = performance.now() - began;
      await subject.postBatch(calls);
      await subject.decided();
      batches[name]?.push(ofCallers / (performance.now() - began - ofCallers));
    }
  heading(`POST /fe_Submit, ${CALLERS} callers, ${LINES} lines, ${rounds} rounds of ${calls}, STATUS_WAIT_MS=0`);
  const rate = (name: string) => median(rates[name] as number[]);
  for (const name of names) {
    const all = latencies[name] as number[];
    const [p50, p99] = [0.5, 0.99].map((share) => `${(1_000 * percentile(all, share)).toFixed(0)} ms`);
    const [cost, batch] = [costs, batches].map((values) => median(values[name] as number[]));
    line(
      `${name}: ${rate(name).toFixed(0)}/s, p50 ${p50}, p99 ${p99}, ${cost?.toFixed(1)} ms of processor time a document`,
    );
    line(
      `  a batch of ${calls}: ${batch?.toFixed(2)} × the rate of ${CALLERS} callers until the last verdict (goal ≥ 1)`,
    );
  }
  const costRatio = median(costs.distributed as number[]) / median(costs.standalone as number[]);
  line(`processor time, distributed : standalone = ${costRatio.toFixed(2)} (goal ≤ 2.5)`);
  line(`distributed : standalone = ${(rate('distributed') / rate('standalone')).toFixed(2)}`);
  heading('Resident memory in MiB: idle, after the load');
  const loaded = new Map([...memory(standalone), ...memory(distributed)]);
  for (const [name, bytes] of idle)
    line(`${name}: ${(bytes / MEBIBYTE).toFixed(0)}, ${((loaded.get(name) ?? 0) / MEBIBYTE).toFixed(0)}`);
  heading('From the POST to the read model, read by SQL: p50, p90, p99, most');
  for (const callers of [CALLERS, 1])
    for (const [index, subject] of subjects.entries()) await report(names[index] as string, subject, callers);
}

async function round(url: string, calls: ReturnType<Subject['nextCalls']>) {
  const load = createLoad(url, (status) => status === 200);
  const taken = await load.round(calls, CALLERS);
  load.close();
  return taken;
}

async function report(name: string, subject: Subject, callers: number): Promise<void> {
  const database = openDatabase(embeddedDatabaseUrl(path.join(folder, name), 'query'), { max: 1 });
  const load = createLoad(subject.standalone.demo.base_url, (status) => status === 200);
  const count = left() > 0.3 ? ARRIVALS : Math.ceil(ARRIVALS / 5);
  const { there, decided } = await arrivals(database, load, subject.nextCalls(count), callers);
  load.close();
  await database.close();
  const spread = (ms: number[]) => [0.5, 0.9, 0.99, 1].map((share) => percentile(ms, share).toFixed(0)).join(', ');
  line(
    `${name}, callers ${callers}, ${count} invoices: there ${spread(there)} ms; decided there ${spread(decided)} ms`,
  );
}

/** Bytes of each process, by its name; all services of a standalone deployment are one. */
function memory({ standalone }: Subject): [string, number][] {
  const processes = standalone.processes().filter(({ pid }) => pid !== null);
  if (processes.length === 0) return [['standalone (all services)', residentBytes(standalone.child.pid as number)]];
  return processes.map(({ name, pid }) => [name, residentBytes(pid as number)]);
}
