// POST /batches on one deployment: a batch alone, against as many calls of /fe_Submit by 32 callers, and beside another account
// that sends one invoice every three seconds. Each of the three is measured until the last verdict.
//
// Settings: BENCH_ROUNDS (3), BENCH_DOCUMENTS (2000), BENCH_WARM_UP (1000), BENCH_DEPLOYMENT (standalone).
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import type { DeploymentName } from '@ecf/test-servers/deployment';
import { benchFolder } from './harness/ending.js';
import { createLoad } from './harness/load.js';
import { median, percentile } from './harness/measure.js';
import { heading, line } from './harness/report.js';
import { createSecondAccount } from './subject/second-account.js';
import { startSubject } from './subject/subject.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 2_000);
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 1_000);
const DEPLOYMENT = (process.env.BENCH_DEPLOYMENT ?? 'standalone') as DeploymentName;
const LINES = 10;
const CALLERS = 32;
const CALL_EVERY_MS = 3_000;

interface Measured {
  /** Documents a second until the last verdict. */
  rate: number;
  /** Milliseconds of processor time a document: all processes but the simulator and Kafka. */
  processorMs: number;
}

const date = formatDocumentDate(toCalendarDate(new Date()));
const subject = await startSubject(path.join(benchFolder(), 'subject'), date, LINES, DEPLOYMENT);
const { demo } = subject.standalone;
const load = createLoad(demo.base_url, (status) => status === 200);
try {
  const other = await createSecondAccount(demo, date, LINES);
  /** Milliseconds of each call of the other account: without a batch, and beside one. */
  const calls = { alone: [] as number[], beside: [] as number[] };
  const ofOther = () => calls.alone.length + calls.beside.length;

  const measured = async (work: () => Promise<unknown>): Promise<Measured> => {
    const [before, expected, began] = [subject.processorSeconds(), ofOther(), performance.now()];
    await work();
    // The few calls of the other account may have verdicts before the last ones of the batch.
    await subject.decided(expected);
    const seconds = (performance.now() - began) / 1_000;
    await subject.decided(ofOther());
    return { rate: DOCUMENTS / seconds, processorMs: ((subject.processorSeconds() - before) / DOCUMENTS) * 1_000 };
  };
  const callOfOther = async (latencies: number[]): Promise<void> => {
    const [document = ''] = other.nextDocuments(1);
    const began = performance.now();
    const response = await fetch(`${demo.base_url}/fe_Submit`, {
      method: 'POST',
      headers: { 'x-api-key': other.key, 'content-type': 'application/json' },
      body: document,
    });
    if (!response.ok) throw new Error(`/fe_Submit answered ${response.status}: ${await response.text()}`);
    latencies.push(performance.now() - began);
  };
  const batchBesideCalls = async (): Promise<void> => {
    const expected = ofOther();
    await subject.postBatch(DOCUMENTS);
    let isDecided = false;
    const decided = subject.decided(expected).then(() => {
      isDecided = true;
    });
    while (!isDecided) {
      await callOfOther(calls.beside);
      await Promise.race([delay(CALL_EVERY_MS), decided]);
    }
  };

  await load.round(subject.nextCalls(WARM_UP), CALLERS);
  await subject.decided();
  const rounds: { singles: Measured; alone: Measured; beside: Measured }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let call = 0; call < 5; call += 1) await callOfOther(calls.alone);
    await subject.decided(ofOther());
    const singles = await measured(() => load.round(subject.nextCalls(DOCUMENTS), CALLERS));
    const alone = await measured(() => subject.postBatch(DOCUMENTS));
    const beside = await measured(batchBesideCalls);
    rounds.push({ singles, alone, beside });
  }

  heading(`batches of ${DOCUMENTS} on the ${DEPLOYMENT} deployment, ${ROUNDS} rounds, until the last verdict`);
  for (const [name, kind] of [
    [`/fe_Submit, ${CALLERS} callers`, 'singles'],
    ['a batch alone', 'alone'],
    ['a batch beside a caller of another account', 'beside'],
  ] as const) {
    const [rate, processorMs] = [
      median(rounds.map((round) => round[kind].rate)),
      median(rounds.map((round) => round[kind].processorMs)),
    ];
    line(`${name}: ${rate.toFixed(0)}/s, ${processorMs.toFixed(1)} ms of processor time a document`);
  }
  ratio(
    `a batch against ${CALLERS} callers`,
    rounds.map(({ alone, singles }) => alone.rate / singles.rate),
    '≥ 1',
  );
  ratio(
    'a batch beside a caller against one alone',
    rounds.map(({ alone, beside }) => beside.rate / alone.rate),
    '≥ 0.6',
  );
  for (const [when, latencies] of Object.entries(calls)) {
    const [p50, p99] = [0.5, 0.99].map((share) => percentile(latencies, share).toFixed(0));
    line(`the calls of the other account, ${when}: p50 ${p50} ms, p99 ${p99} ms of ${latencies.length} (goal < 1000)`);
  }
} finally {
  load.close();
  await subject.standalone.end('SIGTERM');
}

function ratio(name: string, values: number[], goal: string): void {
  const sorted = values.toSorted((a, b) => a - b);
  const spread = `${sorted[0]?.toFixed(2)} to ${sorted.at(-1)?.toFixed(2)}`;
  line(`${name}: ${median(values).toFixed(2)} × the rate (${spread}), goal ${goal}`);
}
