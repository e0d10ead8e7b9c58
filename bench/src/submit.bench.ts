// POST /fe_Submit over HTTP, against a bare express route with the least work of any implementation: two durable transactions,
// one RSA-2048 signature, one submission of a document signed in advance to the same simulator.
//
// Settings: BENCH_ROUNDS (5), BENCH_CALLERS (1,32), BENCH_WARM_UP (3000), BENCH_INVOICES (10000).
import path from 'node:path';
import { authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import { logIn } from '@ecf/authority-client/login';
import { EMBEDDED_SETTINGS } from '@ecf/deployment';
import { startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { createDatabaseIfMissing } from '@ecf/service-kit/postgres';
import { benchFolder } from './harness/ending.js';
import { type Call, createLoad, type Load } from './harness/load.js';
import { median, percentile } from './harness/measure.js';
import {
  childCalled,
  peakBytes,
  processorSeconds,
  processorSecondsOfTree,
  residentBytes,
} from './harness/processes.js';
import { heading, line } from './harness/report.js';
import { certificate } from './inputs/sample.js';
import { startReference } from './reference/process.js';
import { startSubject } from './subject/subject.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const CALLERS = (process.env.BENCH_CALLERS ?? '1,32').split(',').map(Number);
/** Invoices of each contender before the measurement, so that the code is compiled as in a process that runs for weeks. */
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 3_000);
const INVOICES = Number(process.env.BENCH_INVOICES ?? 10_000);
const LINES = 10;
/** Calls of a round: a second or two. */
const perRound = (callers: number): number => (callers === 1 ? 200 : 1_000);

/** A measured program: its calls, its process and its database. */
interface Contender {
  name: string;
  load: Load;
  calls(count: number): Promise<Call[]>;
  processes: { program: number; postgres: number };
  /** Waits for the background work of the round. */
  settle(): Promise<void>;
}

interface Measured {
  rate: number;
  latencies: number[];
  /** Milliseconds of processor time a call. */
  cpu: Cpu;
  /** The same with the background work of the round. */
  cpuInAll: Cpu;
}

interface Cpu {
  program: number;
  postgres: number;
  simulator: number;
}

const folder = benchFolder();
const ending: (() => Promise<unknown> | unknown)[] = [];
try {
  await run();
} finally {
  for (const end of ending.reverse()) await end();
}

async function run(): Promise<void> {
  const { own, references, simulator, gateway } = await startContenders();
  const all = [own, ...references];
  const measure = (contender: Contender, count: number, callers: number) =>
    measureRound(contender, count, callers, simulator);
  for (const contender of all) await measure(contender, WARM_UP, 32);
  for (const callers of CALLERS) {
    heading(`POST /fe_Submit, ${LINES} lines, ${callers} ${callers === 1 ? 'caller' : 'callers'}, STATUS_WAIT_MS=0`);
    const rounds: Measured[][] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const measured: Measured[] = [];
      for (const contender of all) measured.push(await measure(contender, perRound(callers), callers));
      rounds.push(measured);
    }
    report(all, rounds, callers);
  }

  const left = INVOICES - WARM_UP - ROUNDS * CALLERS.reduce((sum, callers) => sum + perRound(callers), 0);
  if (left > 0) {
    heading(`sustained: ${left} more, 32 callers, with result queries in the background`);
    describe(own.name, [await measure(own, left, 32)]);
    describe(references[0]!.name, [await measure(references[0]!, Math.min(left, 2_000), 32)]);
  }
  heading(`memory of the gateway's process after ${left > 0 ? INVOICES : INVOICES - left} invoices`);
  line(`resident ${megabytes(residentBytes(gateway))}, at most ${megabytes(peakBytes(gateway))}`);
}

interface Contenders {
  own: Contender;
  references: Contender[];
  /** Process ids. */
  simulator: number;
  gateway: number;
}

/** Starts the gateway and the reference beside it, both with the same simulator. */
async function startContenders(): Promise<Contenders> {
  const date = formatDocumentDate(toCalendarDate(new Date()));
  const subject = await startSubject(path.join(folder, 'subject'), date, LINES);
  ending.push(() => subject.standalone.end('SIGTERM'));
  const { demo } = subject.standalone;
  const gateway = subject.standalone.child.pid as number;

  const server = await startEmbeddedPostgres({
    dataDir: path.join(folder, 'reference-postgres'),
    settings: EMBEDDED_SETTINGS,
  });
  ending.push(() => server.stop());
  const databaseUrl = server.localUrl('reference');
  await createDatabaseIfMissing(databaseUrl);
  const reference = await startReference({
    databaseUrl,
    submissionUrl: `${demo.authority_url}/TesteCF/recepcion/api/facturaselectronicas`,
    token: await authorityToken(demo.authority_url),
    parties: { issuer: '131999999', buyer: demo.buyer_rnc, date },
    lines: LINES,
  });
  ending.push(() => reference.stop());

  const own: Contender = {
    name: 'gateway',
    load: createLoad(demo.base_url, (status, text) => status === 200 && text.includes('"EnProceso"')),
    calls: async (count) => subject.nextCalls(count),
    processes: { program: gateway, postgres: childCalled(gateway, 'postgres') },
    settle: () => subject.decided(),
  };
  const json = subject.nextCalls(1)[0] as Call;
  await own.load.round([json], 1);
  const bare = (route: string): Contender => ({
    name: `reference (${route})`,
    load: createLoad(reference.url, (status) => status === 200),
    async calls(count) {
      await reference.prepare(count);
      return Array.from({ length: count }, () => ({ ...json, path: `/${route}` }));
    },
    processes: { program: reference.pid, postgres: server.pid },
    settle: async () => undefined,
  });
  const references = [bare('got'), bare('node')];
  ending.push(() => {
    for (const { load } of [own, ...references]) load.close();
  });
  return { own, references, gateway, simulator: childCalled(gateway, 'authority-simulator') };
}

async function measureRound(
  contender: Contender,
  count: number,
  callers: number,
  simulator: number,
): Promise<Measured> {
  const { program, postgres } = contender.processes;
  const cpu = (): Cpu => ({
    program: processorSeconds(program),
    postgres: processorSecondsOfTree(postgres),
    simulator: processorSeconds(simulator),
  });
  const calls = await contender.calls(count);
  const before = cpu();
  const { seconds, latencies } = await contender.load.round(calls, callers);
  const after = cpu();
  await contender.settle();
  return {
    rate: count / seconds,
    latencies,
    cpu: perCall(before, after, count),
    cpuInAll: perCall(before, cpu(), count),
  };
}

/** Prints each contender, and the rate of the first against the others. */
function report(all: readonly Contender[], rounds: readonly Measured[][], callers: number): void {
  all.forEach(({ name }, index) => {
    describe(
      name,
      rounds.map((round) => round[index] as Measured),
    );
  });
  all.slice(1).forEach(({ name }, index) => {
    const ratios = rounds.map(([mine, ...theirs]) => (mine as Measured).rate / (theirs[index] as Measured).rate);
    ratios.sort((a, b) => a - b);
    const spread = `${percent(ratios[0] as number)}–${percent(ratios.at(-1) as number)} over ${ratios.length} rounds`;
    line(`rate against ${name}: ${percent(median(ratios))}${callers === 32 ? ' (goal ≥ 50 %)' : ''}; ${spread}`);
  });
}

function perCall(before: Cpu, after: Cpu, count: number): Cpu {
  const part = (name: keyof Cpu): number => ((after[name] - before[name]) / count) * 1000;
  return { program: part('program'), postgres: part('postgres'), simulator: part('simulator') };
}

function describe(name: string, rounds: readonly Measured[]): void {
  const latencies = rounds.flatMap((round) => round.latencies);
  const rate = median(rounds.map((round) => round.rate));
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)].map((one) => (one * 1e3).toFixed(1));
  line(`${name}: ${rate.toFixed(0)}/s, p50 ${p50} ms, p99 ${p99} ms`);
  line(`  processor time a call: ${inWords(rounds.map((round) => round.cpu))}`);
  line(`  with its background work: ${inWords(rounds.map((round) => round.cpuInAll))}`);
}

function inWords(all: readonly Cpu[]): string {
  const parts = (['program', 'postgres', 'simulator'] as const).map(
    (name) => `${name} ${median(all.map((one) => one[name])).toFixed(2)} ms`,
  );
  return parts.join(', ');
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)} %`;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(0)} MiB`;
}

/** The bearer token of one login, kept for the whole run. */
async function authorityToken(authorityUrl: string): Promise<string> {
  const client = createAuthorityClient({ endpoints: authorityEndpoints(authorityUrl), userAgent: 'benchmark' });
  const answer = await logIn(client, 'TesteCF', certificate().certificate);
  client.close();
  if (answer.outcome !== 'verdict') throw new Error(`no token: ${JSON.stringify(answer)}`);
  return answer.verdict.token;
}
