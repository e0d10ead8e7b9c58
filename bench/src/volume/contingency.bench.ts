// Contingency: documents are signed while the authority is away, then sent at its return. Measures the rate of signing, the recovery to
// the last verdict, and single submissions beside it, against /fe_Submit with 32 callers in the same run. Prints the ledger of the
// authority, and fails on a document that it lacks or got twice.
//
// Settings: BENCH_DOCUMENTS (5000), BENCH_SINGLE (1000), RECOVERY_RATE (the default of the gateway); BENCH_SECONDS (900) ends it.
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { benchFolder, endAfter } from '../harness/ending.js';
import { createLoad } from '../harness/load.js';
import { percentile } from '../harness/measure.js';
import { heading, line } from '../harness/report.js';
import { startSubject, submissionsUntil } from '../subject/subject.js';

const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 5_000);
const SINGLE = Number(process.env.BENCH_SINGLE ?? 1_000);
const CALLERS = 32;
const LINES = 10;

endAfter(Number(process.env.BENCH_SECONDS ?? 900));
const date = formatDocumentDate(toCalendarDate(new Date()));
const subject = await startSubject(path.join(benchFolder(), 'subject'), date, LINES);
try {
  await run();
} finally {
  await subject.standalone.end('SIGTERM');
}

async function run(): Promise<void> {
  const { demo } = subject.standalone;
  const load = createLoad(demo.base_url, (status, text) => status === 200 && text.includes('"EnProceso"'));
  const seconds = async (work: () => Promise<unknown>): Promise<number> => {
    const began = performance.now();
    await work();
    return (performance.now() - began) / 1_000;
  };
  const calls = (count: number, contingency: string) =>
    subject.nextCalls(count).map((call) => ({ ...call, headers: { ...call.headers, 'x-contingency': contingency } }));
  const rate = (count: number, taken: number) => `${(count / taken).toFixed(0)}/s`;

  await load.round(calls(SINGLE / 2, 'false'), CALLERS);
  await subject.decided();
  const single = await seconds(async () => {
    await load.round(calls(SINGLE, 'false'), CALLERS);
    await subject.decided();
  });

  await control('POST', 'faults', { operation: '*', kind: 'down' });
  // With the token at hand, some documents are sent before the circuit opens. They do not wait in the queue.
  await load.round(calls(CALLERS, 'true'), CALLERS);
  const waiting = calls(DOCUMENTS, 'true');
  const signing = await seconds(() => load.round(waiting, CALLERS));
  const total = await documentsThatWait();
  await control('DELETE', 'faults');

  // Nobody knows whether the authority has the first ones: they are looked up minutes later.
  const last = seconds(() => subject.decided(CALLERS));
  const queue = seconds(async () => {
    while ((await documentsThatWait()) > 0) await delay(200);
  });
  const beside = await submissionsUntil(load, subject, queue);
  const emptied = await queue;
  const recovery = await last;
  load.close();

  heading(`contingency, ${DOCUMENTS} invoices of ${LINES} lines, ${CALLERS} callers`);
  line(`/fe_Submit to the last verdict: ${rate(SINGLE, single)}`);
  line(`signed while the authority was away: ${rate(DOCUMENTS, signing)}; ${total} waited`);
  line(
    `sent after the return: ${rate(total, emptied)}, the last one after ${emptied.toFixed(0)} s; verdict after ${recovery.toFixed(0)} s`,
  );
  line(`recovery : /fe_Submit = ${(total / emptied / (SINGLE / single)).toFixed(2)}`);
  const ms = (share: number) => `${(percentile(beside, share) * 1e3).toFixed(0)} ms`;
  line(`single submissions beside the recovery: p50 ${ms(0.5)}, p99 ${ms(0.99)} (${beside.length})`);
  await printLedger(new Set(waiting.map(({ encf }) => encf)));
}

async function documentsThatWait(): Promise<number> {
  const { base_url, api_key } = subject.standalone.demo;
  const response = await fetch(`${base_url}/contingency?limit=1`, { headers: { 'x-api-key': api_key } });
  return ((await response.json()) as { total: number }).total;
}

async function control(method: string, place: string, body?: object): Promise<Response> {
  const response = await fetch(`${subject.standalone.demo.authority_url}/_control/${place}`, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`the simulator answered ${response.status}: ${await response.text()}`);
  return response;
}

async function printLedger(signed: ReadonlySet<string>): Promise<void> {
  const all = (await (await control('GET', 'submissions?operation=recepcion')).json()) as {
    encf: string;
    status: string;
  }[];
  const sent = new Map<string, number>();
  const statuses = new Map<string, number>();
  for (const { encf, status } of all.filter(({ encf: one }) => signed.has(one))) {
    sent.set(encf, (sent.get(encf) ?? 0) + 1);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  }
  const twice = [...sent.values()].filter((count) => count > 1).length;
  const words = [...statuses].map(([status, count]) => `${count} ${status}`).join(', ');
  line(`ledger of the authority: ${sent.size} of ${signed.size} documents, ${words}; ${twice} got twice`);
  if (twice > 0 || sent.size !== signed.size) process.exitCode = 1;
}
