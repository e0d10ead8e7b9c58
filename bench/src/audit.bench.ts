// The cost of the audit log for a submission: two standalone processes in one run, one of them without the audit work of submissions
// (uses of the API key and of the certificate). They alternate, and change places every round.
//
// Settings: BENCH_ROUNDS (10), BENCH_WARM_UP (2000), BENCH_CALLS (500).
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { benchFolder } from './harness/ending.js';
import { createLoad, type Load } from './harness/load.js';
import { median } from './harness/measure.js';
import { childCalled, processorSeconds, processorSecondsOfTree } from './harness/processes.js';
import { heading, line } from './harness/report.js';
import { type Subject, startSubject } from './subject/subject.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 10);
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 2_000);
const CALLS = Number(process.env.BENCH_CALLS ?? 500);
const CALLERS = 32;
const LINES = 10;
const WITHOUT_AUDIT = fileURLToPath(new URL('./subject/without-audit.js', import.meta.url));

interface Contender {
  subject: Subject;
  load: Load;
}

/** Seconds of a call, and milliseconds of processor time with the background work, gateway and PostgreSQL together. */
interface Cost {
  seconds: number;
  cpu: number;
}

const folder = benchFolder();
const ending: (() => Promise<unknown> | unknown)[] = [];
try {
  await run();
} finally {
  for (const end of ending.reverse()) await end();
}

async function run(): Promise<void> {
  const audited = await start('audited', []);
  const bare = await start('bare', ['--import', WITHOUT_AUDIT]);
  const [own, none] = [await usesIn(audited), await usesIn(bare)];
  if (own === 0 || none !== 0) throw new Error(`uses in the audit logs: ${own} and ${none}; expected some and none`);
  for (const contender of [audited, bare]) await measure(contender, WARM_UP);

  heading(`POST /fe_Submit, ${LINES} lines, ${CALLERS} callers, with and without the audit work of submissions`);
  const rounds: { with: Cost; without: Cost }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const first = await measure(round % 2 === 0 ? audited : bare, CALLS);
    const second = await measure(round % 2 === 0 ? bare : audited, CALLS);
    rounds.push(round % 2 === 0 ? { with: first, without: second } : { with: second, without: first });
  }
  for (const side of ['with', 'without'] as const) {
    const [seconds, cpu] = (['seconds', 'cpu'] as const).map((name) =>
      median(rounds.map((round) => round[side][name])),
    );
    line(`${side}: ${(1 / (seconds as number)).toFixed(0)}/s, processor time a call ${(cpu as number).toFixed(2)} ms`);
  }
  report(
    'processor time',
    rounds.map((round) => round.with.cpu / round.without.cpu),
  );
  report(
    'time of the clock',
    rounds.map((round) => round.with.seconds / round.without.seconds),
  );
}

/** Prints by how many percent the audited one costs more: the median over the rounds (goal 3 at most), and the spread. */
function report(what: string, ratios: number[]): void {
  const percent = ratios.map((ratio) => (ratio - 1) * 100).sort((a, b) => a - b);
  const [least, most] = [percent[0] as number, percent.at(-1) as number];
  line(
    `${what}: ${median(percent).toFixed(1)} % more (goal ≤ 3 %); ${least.toFixed(1)} to ${most.toFixed(1)} over ${ROUNDS} rounds`,
  );
}

async function start(name: string, nodeOptions: string[]): Promise<Contender> {
  const date = formatDocumentDate(toCalendarDate(new Date()));
  const subject = await startSubject(path.join(folder, name), date, LINES, 'standalone', { nodeOptions });
  ending.push(() => subject.standalone.end('SIGTERM'));
  const load = createLoad(
    subject.standalone.demo.base_url,
    (status, text) => status === 200 && text.includes('"EnProceso"'),
  );
  ending.push(() => load.close());
  await load.round(subject.nextCalls(1), 1);
  return { subject, load };
}

/** Entries about uses of keys and certificates. */
async function usesIn({ subject }: Contender): Promise<number> {
  const { base_url, admin_token } = subject.standalone.demo;
  let uses = 0;
  for (const action of ['api_key.use', 'certificate.use']) {
    const headers = { authorization: `Bearer ${admin_token}` };
    const answer = await fetch(`${base_url}/admin/audit?action=${action}`, { headers });
    uses += ((await answer.json()) as { entries: unknown[] }).entries.length;
  }
  return uses;
}

async function measure({ subject, load }: Contender, count: number): Promise<Cost> {
  const program = subject.standalone.child.pid as number;
  const cpu = () => processorSeconds(program) + processorSecondsOfTree(childCalled(program, 'postgres'));
  const calls = subject.nextCalls(count);
  const before = cpu();
  const { seconds } = await load.round(calls, CALLERS);
  await subject.decided();
  return { seconds: seconds / count, cpu: ((cpu() - before) / count) * 1_000 };
}
