// POST /batches against POST /fe_Submit with 32 callers, on the same deployment in the same run: documents a second until the
// verdict, processor time a document with all background work, time to the 202, memory. The processor time is also compared with
// that of one caller, because 32 callers share statements as the lines of a batch do.
//
// Settings: BENCH_DOCUMENTS (10000), BENCH_SINGLE (4000, and an eighth as many by one caller), BENCH_WARM_UP (1000), BENCH_DEPLOYMENT
// (standalone).
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import type { DeploymentName } from '@ecf/test-servers/deployment';
import { benchFolder } from './harness/ending.js';
import { createLoad } from './harness/load.js';
import { percentile } from './harness/measure.js';
import {
  childCalled,
  descendantsOf,
  forgetPeak,
  peakBytes,
  processorSeconds,
  processorSecondsOfTree,
  residentBytes,
} from './harness/processes.js';
import { heading, line } from './harness/report.js';
import { startSubject } from './subject/subject.js';

const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 10_000);
const SINGLE = Number(process.env.BENCH_SINGLE ?? 4_000);
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 1_000);
const DEPLOYMENT = (process.env.BENCH_DEPLOYMENT ?? 'standalone') as DeploymentName;
const LINES = 10;
const CALLERS = 32;
/** Pauses of a caller who submits one invoice after another, and of one who does now and then. */
const SHORT_MS = 20;
const LONG_MS = 2_000;

interface Measured {
  /** Seconds until the last verdict. */
  seconds: number;
  /** Milliseconds of processor time a document: all processes of the gateway, and PostgreSQL. */
  processorMs: number;
}

const folder = benchFolder();
const date = formatDocumentDate(toCalendarDate(new Date()));
const subject = await startSubject(path.join(folder, 'subject'), date, LINES, DEPLOYMENT);
const { demo, child } = subject.standalone;
const gateway = child.pid as number;
const load = createLoad(demo.base_url, (status, text) => status === 200 && text.includes('"EnProceso"'));
try {
  await singles(WARM_UP, CALLERS);
  await subject.decided();
  await compareWithSingles();
  await measureCallsBeside();
} finally {
  load.close();
  await subject.standalone.end('SIGTERM');
}

async function compareWithSingles(): Promise<void> {
  // Half of them before the batch and half after it: the machine changes its pace, and the tables grow.
  const half = Math.ceil(SINGLE / 2);
  const before = await measuredSingles(half, CALLERS);
  const oneCaller = await measuredSingles(Math.ceil(SINGLE / 8), 1);

  heading(`POST /batches, one batch of ${DOCUMENTS}`);
  const body = nextBatch();
  const idle = residentBytes(gateway);
  forgetPeak(gateway);
  let accepted = 0;
  const batch = await measured(DOCUMENTS, async () => {
    const began = performance.now();
    await postBatch(body);
    accepted = (performance.now() - began) / 1_000;
  });
  line(
    `202 after ${accepted.toFixed(2)} s; memory at most ${megabytes(peakBytes(gateway) - idle)} above the ${megabytes(idle)} before`,
  );
  const after = await measuredSingles(half, CALLERS);

  heading('a batch against single submissions');
  const rate = (before.seconds + after.seconds) / (2 * half) / (batch.seconds / DOCUMENTS);
  const cost = ((2 * batch.processorMs) / (before.processorMs + after.processorMs)).toFixed(2);
  line(`${CALLERS} callers: ${rate.toFixed(2)} × the rate (goal ≥ 1.5), ${cost} × the processor time (goal ≤ 0.5)`);
  const toOne = (batch.processorMs / oneCaller.processorMs).toFixed(2);
  line(`one caller, whose calls share nothing: ${toOne} × the processor time`);
}

async function measureCallsBeside(): Promise<void> {
  heading(`single submissions of one caller beside a running batch of ${DOCUMENTS}`);
  const before = await singleCalls(10, 100);
  await postBatch(nextBatch());
  await delay(LONG_MS);
  const beside = await singleCalls(20, 200);
  await subject.decided();
  const after = await singleCalls(10, 100);
  compareCalls(SHORT_MS, beside.dense, [...before.dense, ...after.dense]);
  compareCalls(LONG_MS, beside.sparse, [...before.sparse, ...after.sparse]);
}

function compareCalls(pauseMs: number, beside: readonly number[], alone: readonly number[]): void {
  const ratio = (percentile([...beside], 0.5) / percentile([...alone], 0.5)).toFixed(2);
  line(`one call ${pauseMs} ms after the other: ${quantiles(beside)}; alone ${quantiles(alone)}`);
  line(`  p50 ${ratio} × that alone (goal ≤ 1.5)`);
}

async function measuredSingles(count: number, callers: number): Promise<Measured> {
  heading(
    `POST /fe_Submit, ${callers === 1 ? 'one caller' : `${callers} callers`}, ${count} invoices of ${LINES} lines`,
  );
  let latencies: readonly number[] = [];
  const found = await measured(count, async () => {
    latencies = await singles(count, callers);
  });
  line(`answers ${quantiles(latencies)}`);
  return found;
}

/** Measures work until the last verdict, and says what it took. */
async function measured(documents: number, work: () => Promise<void>): Promise<Measured> {
  const before = processorTime();
  const began = performance.now();
  await work();
  await subject.decided();
  const seconds = (performance.now() - began) / 1_000;
  const after = processorTime();
  const perDocument = (name: 'gateway' | 'postgres') => ((after[name] - before[name]) / documents) * 1_000;
  const [ofGateway, ofPostgres] = [perDocument('gateway'), perDocument('postgres')];
  line(`${(documents / seconds).toFixed(0)}/s to the last verdict`);
  line(`  processor time a document: gateway ${ofGateway.toFixed(2)} ms, postgres ${ofPostgres.toFixed(2)} ms`);
  return { seconds, processorMs: ofGateway + ofPostgres };
}

/** Seconds of processor time of the services, without the simulator, and of PostgreSQL. */
function processorTime() {
  const [postgres, simulator] = [childCalled(gateway, 'postgres'), childCalled(gateway, 'authority-simulator')];
  const services = descendantsOf(gateway).filter(({ pid, command }) => pid !== simulator && command.includes('node'));
  return {
    gateway: services.reduce((sum, { own }) => sum + own, processorSeconds(gateway)),
    postgres: processorSecondsOfTree(postgres),
  };
}

/** Latencies in seconds. */
async function singles(count: number, callers: number): Promise<readonly number[]> {
  return (await load.round(subject.nextCalls(count), callers)).latencies;
}

async function singleCalls(sparse: number, dense: number) {
  return { sparse: await callsEvery(LONG_MS, sparse), dense: await callsEvery(SHORT_MS, dense) };
}

/** Latencies in seconds of calls that follow one another. */
async function callsEvery(pauseMs: number, count: number): Promise<readonly number[]> {
  const latencies: number[] = [];
  for (let call = 0; call < count; call += 1) {
    latencies.push(...(await singles(1, 1)));
    await delay(pauseMs);
  }
  return latencies;
}

function nextBatch(): string {
  return `${subject.nextDocuments(DOCUMENTS).join('\n')}\n`;
}

async function postBatch(text: string): Promise<void> {
  const response = await fetch(`${demo.base_url}/batches`, {
    method: 'POST',
    headers: { 'x-api-key': demo.api_key, 'content-type': 'application/x-ndjson' },
    body: text,
  });
  if (response.status !== 202) throw new Error(`the batch got ${response.status}: ${await response.text()}`);
}

function quantiles(seconds: readonly number[]): string {
  const ms = (share: number) => (percentile([...seconds], share) * 1e3).toFixed(0);
  return `p50 ${ms(0.5)} ms, p99 ${ms(0.99)} ms`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}
