// Attacks on the standalone deployment that need one key or none, each on a fresh deployment: the longest wait of GET /health/live and
// the p99 of another account before and beside it, the memory of the process, and the answers that the attacker got.
//
// BENCH_ATTACKS (all): letters, such as a,c. BENCH_SCALE (1): share of the sizes and counts. BENCH_PUSH_SECONDS (10) until an attack
// begins no further request, BENCH_END_SECONDS (30) until it drops what has no answer. BENCH_SECONDS (1800) ends the bench.
import { setMaxListeners } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import type { DeploymentProcess } from '@ecf/test-servers/deployment';
import { benchFolder, endAfter } from '../harness/ending.js';
import { percentile } from '../harness/measure.js';
import { descendantsOf, forgetPeak, isRunning, peakBytes, residentBytes } from '../harness/processes.js';
import { heading, line } from '../harness/report.js';
import { createSecondAccount } from '../subject/second-account.js';
import { startSubject } from '../subject/subject.js';
import type { Attack, Stage } from './attack.js';
import { CONNECTIONS } from './connections.js';
import { DOCUMENTS } from './documents.js';
import { type Observation, observe, type Waits } from './observation.js';
import { RECEIVER } from './receiver.js';

const ALL: readonly Attack[] = [RECEIVER, ...DOCUMENTS, ...CONNECTIONS];
const LETTERS = process.env.BENCH_ATTACKS?.split(',') ?? ALL.map(({ letter }) => letter);
const SCALE = Number(process.env.BENCH_SCALE ?? 1);
const PUSH_MS = Number(process.env.BENCH_PUSH_SECONDS ?? 10) * 1_000;
const END_MS = Number(process.env.BENCH_END_SECONDS ?? 30) * 1_000;
const IDLE_MS = 5_000;
const LINES = 10;
/** More than an account submits one after another during an attack. */
const DOCUMENTS_OF_NEIGHBOUR = 2_000;
const STILL_WAITING_MS = 100;
/** A deployment whose event loop is blocked does not end by SIGTERM. */
const STOP_MS = 15_000;

endAfter(Number(process.env.BENCH_SECONDS ?? 1_800));
const date = formatDocumentDate(toCalendarDate(new Date()));
const folder = benchFolder();
heading(`attacks, each on a fresh deployment${SCALE === 1 ? '' : `, at ${SCALE} of their size`}`);
line(
  '| Attack | /health/live, longest ms (idle) | MB before, peak | other account, p99 ms (idle) | its answers | answers to the attacker | s |',
);
line('|---|---|---|---|---|---|---|');
for (const [index, attack] of ALL.entries()) {
  if (LETTERS.includes(attack.letter)) await measure(attack, path.join(folder, String(index)));
}

async function measure(attack: Attack, dataDir: string): Promise<void> {
  const subject = await startSubject(dataDir, date, LINES);
  const { demo, child } = subject.standalone;
  const program = child.pid as number;
  const second = await createSecondAccount(demo, date, LINES);
  const observer = observe({
    baseUrl: demo.base_url,
    key: second.key,
    issuer: second.issuer,
    date,
    neighbour: attack.neighbour,
    documents: second.nextDocuments(DOCUMENTS_OF_NEIGHBOUR),
  });
  try {
    // The first calls compile code.
    await delay(IDLE_MS);
    observer.begin();
    await delay(IDLE_MS);
    const idle = await observer.read();
    const before = residentBytes(program);
    forgetPeak(program);
    observer.begin();
    const began = performance.now();
    const answers = new Map<string, number>();
    const end = AbortSignal.timeout(END_MS);
    setMaxListeners(0, end);
    const count = (answer: string) => answers.set(answer, (answers.get(answer) ?? 0) + 1);
    const stage: Stage = {
      demo,
      scale: SCALE,
      enough: AbortSignal.timeout(PUSH_MS),
      end,
      nextDocument: () => subject.nextDocuments(1)[0] as string,
      count,
    };
    await attack.run(stage).catch((error: Error) => count(`the attack ended early: ${error.message}`));
    // Work that the attack left behind counts too.
    await delay(Math.max(0, began + PUSH_MS - performance.now()));
    let beside = await observer.read();
    while ((beside.health.waiting ?? 0) > STILL_WAITING_MS && !end.aborted) {
      await delay(STILL_WAITING_MS);
      beside = await observer.read();
    }
    const seconds = (performance.now() - began) / 1_000;
    const memory = `${mb(before)}, ${mb(peakBytes(program))}`;
    line(`| ${attack.name} | ${figures(idle, beside, memory)} | ${print(answers)} | ${seconds.toFixed(0)} |`);
  } finally {
    await observer.end();
    await stop(subject.standalone);
  }
}

function figures(idle: Observation, beside: Observation, memory: string): string {
  const health = `${longest(beside.health)} (${longest(idle.health)})`;
  const account = `${p99(beside.account)} (${p99(idle.account)})`;
  return `${health} | ${memory} | ${account} | ${print(Object.entries(beside.account.answers))}`;
}

function longest({ waits, waiting }: Waits): string {
  const most = Math.max(0, ...waits);
  return unanswered(waiting, most) ?? most.toFixed(0);
}

function p99({ waits, waiting }: Waits): string {
  return unanswered(waiting, Math.max(0, ...waits)) ?? (waits.length === 0 ? '' : percentile(waits, 0.99).toFixed(0));
}

/** A call that has waited longer than all others has no answer yet. */
function unanswered(waiting: number | null, most: number): string | null {
  return waiting !== null && waiting > Math.max(most, STILL_WAITING_MS) ? `more than ${waiting.toFixed(0)}` : null;
}

function print(answers: Iterable<readonly [string, number]>): string {
  return [...answers].map(([answer, count]) => `${count} × ${answer}`).join(', ');
}

function mb(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

/** Ends the deployment and, where it does not end, all that it started. */
async function stop({ child, end }: DeploymentProcess): Promise<void> {
  const force = setTimeout(() => {
    const started = descendantsOf(child.pid as number);
    child.kill('SIGKILL');
    for (const one of started.filter(isRunning)) process.kill(one.pid, 'SIGKILL');
  }, STOP_MS);
  await end('SIGTERM');
  clearTimeout(force);
}
