// POST /fe_Submit on the distributed deployment, against the standalone one in the same run; how long the read model takes to
// hear of a submission; memory of each process, idle and after the load.
//
// BENCH_ROUNDS (5) and BENCH_CALLS (600) make it shorter or longer.
import path from 'node:path';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { benchFolder } from './ending.js';
import { createLoad } from './load.js';
import { median, percentile } from './measure.js';
import { residentBytes } from './processes.js';
import { heading, line } from './report.js';
import { type Subject, startSubject } from './subject.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CALLS = Number(process.env.BENCH_CALLS ?? 600);
const CALLERS = 32;
const LINES = 10;
const MEBIBYTE = 1024 * 1024;

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
  const [standalone, distributed] = subjects as [Subject, Subject];
  const idle = memory(distributed);
  const rates: Record<string, number[]> = { standalone: [], distributed: [] };
  const latencies: Record<string, number[]> = { standalone: [], distributed: [] };
  for (let round = 0; round <= ROUNDS; round += 1)
    for (const [index, subject] of [standalone, distributed].entries()) {
      const name = names[index] as string;
      const load = createLoad(subject.standalone.demo.base_url, (status) => status === 200);
      const { seconds, latencies: each } = await load.round(subject.nextCalls(CALLS), CALLERS);
      load.close();
      await subject.decided();
      // The first one warms up.
      if (round === 0) continue;
      rates[name]?.push(CALLS / seconds);
      latencies[name]?.push(...each);
    }
  heading(`POST /fe_Submit, ${CALLERS} callers, ${LINES} lines, ${ROUNDS} rounds of ${CALLS}, STATUS_WAIT_MS=0`);
  const rate = (name: string) => median(rates[name] as number[]);
  for (const name of names) {
    const all = latencies[name] as number[];
    const [p50, p99] = [0.5, 0.99].map((share) => `${(1_000 * percentile(all, share)).toFixed(0)} ms`);
    line(`${name}: ${rate(name).toFixed(0)}/s, p50 ${p50}, p99 ${p99}`);
  }
  line(`distributed : standalone = ${(rate('distributed') / rate('standalone')).toFixed(2)}`);
  heading('From the cause of an event to the read model, distributed');
  line(`mean ${(1_000 * (await readModelLag(distributed))).toFixed(0)} ms`);
  heading('Resident memory in MiB, distributed: idle, after the load');
  const loaded = memory(distributed);
  for (const [name, bytes] of idle)
    line(`${name}: ${(bytes / MEBIBYTE).toFixed(0)}, ${((loaded.get(name) ?? 0) / MEBIBYTE).toFixed(0)}`);
}

function memory({ standalone }: Subject): Map<string, number> {
  const processes = standalone.processes().filter(({ pid }) => pid !== null);
  return new Map(processes.map(({ name, pid }) => [name, residentBytes(pid as number)]));
}

/** Seconds, the mean over all invoices. */
async function readModelLag({ standalone }: Subject): Promise<number> {
  const text = await (await fetch(standalone.demo.metrics_url)).text();
  const value = (suffix: string) =>
    Number(
      new RegExp(`^ecf_read_model_lag_seconds_${suffix}\\{[^}]*topic="invoices.v1"[^}]*\\} (\\S+)$`, 'm').exec(
        text,
      )?.[1],
    );
  return value('sum') / value('count');
}
