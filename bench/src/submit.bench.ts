// POST /fe_Submit over HTTP, beside what an integrator would write instead: express, the npm library dgii-ecf and pg
// (bench/src/reference). Both send invoices of type 31 with ten lines to the same simulator, which decides after 200 ms.
//
// Settings: BENCH_ROUNDS (3), BENCH_WARM_UP (2000 for the gateway, a fourth for the reference), BENCH_CALLS (1000 with 32 callers; a
// fifth as many with one), BENCH_IDLE_SECONDS (60).
import { fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { EMBEDDED_SETTINGS } from '@ecf/deployment';
import { startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { formatDocumentDate, toCalendarDate } from '@ecf/domain';
import { createDatabaseIfMissing, openDatabase } from '@ecf/postgres';
import { benchFolder } from './harness/ending.js';
import { type Call, createLoad, type Load } from './harness/load.js';
import { median, percentile } from './harness/measure.js';
import { childCalled, peakBytes, processorSeconds, processorSecondsOfTree } from './harness/processes.js';
import { heading, line } from './harness/report.js';
import { certificate, encfOf, ISSUER, invoice } from './inputs/sample.js';
import { startSubject } from './subject/subject.js';

const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
const WARM_UP = Number(process.env.BENCH_WARM_UP ?? 2_000);
const CALLS = Number(process.env.BENCH_CALLS ?? 1_000);
const IDLE_SECONDS = Number(process.env.BENCH_IDLE_SECONDS ?? 60);
/** Until idle connections are closed and autovacuum has read what the load wrote. */
const REST_MS = 90_000;
const LINES = 10;
const BUYER = '131999999';
const date = formatDocumentDate(toCalendarDate(new Date()));

/** A measured program with its database. */
interface Contender {
  readonly load: Load;
  readonly program: number;
  readonly postgres: number;
  calls(count: number): Call[];
  /** Resolves when no document waits for its verdict. */
  decided(): Promise<void>;
  end(): Promise<unknown>;
}

interface Measured {
  /** Answers a second. */
  rate: number;
  /** Milliseconds of each call. */
  latencies: number[];
  /** Milliseconds of processor time a document, with all background work: program and PostgreSQL. */
  processorMs: number;
}

const folder = benchFolder();
await measureBoth('0', async (gateway, reference) => {
  for (const callers of [32, 1]) {
    const calls = callers === 1 ? Math.ceil(CALLS / 5) : CALLS;
    const [ours, theirs] = await alternate(
      () => round(gateway, calls, callers),
      () => round(reference, calls, callers),
    );
    heading(
      `${callers === 1 ? 'one caller' : `${callers} callers`}, ${ROUNDS} rounds of ${calls}, answers before the verdict (STATUS_WAIT_MS=0)`,
    );
    row('documents a second', ours, theirs, ({ rate }) => rate, callers === 1 ? '≥ 2' : '≥ 3');
    row('ms of processor time', ours, theirs, ({ processorMs }) => processorMs, callers === 1 ? '≤ 0.7' : '≤ 0.5');
    for (const share of [0.5, 0.99])
      row(`p${share * 100} of the answer, ms`, ours, theirs, ({ latencies }) => percentile(latencies, share));
  }
  const [mine, other] = [gateway, reference].map(({ program }) => (peakBytes(program) / 1024 / 1024).toFixed(0));
  heading('memory of the process');
  line(`at most: gateway ${mine} MiB (goal ≤ 400), reference ${other} MiB`);
  await delay(REST_MS);
  const before = [gateway, reference].map(processorTime);
  await delay(IDLE_SECONDS * 1_000);
  const [idle, theirs] = [gateway, reference].map((one, index) =>
    (((processorTime(one) - (before[index] as number)) / IDLE_SECONDS) * 100).toFixed(2),
  );
  heading(`idle for ${IDLE_SECONDS} s`);
  line(`processor time, in percent of one core: gateway ${idle} (goal ≤ 1), reference ${theirs}`);
});
await measureBoth('3000', async (gateway, reference) => {
  const calls = Math.ceil(CALLS / 20);
  const [ours, theirs] = await alternate(
    () => round(gateway, calls, 1),
    () => round(reference, calls, 1, '?wait'),
  );
  heading(`the verdict in the answer, one caller, ${ROUNDS} rounds of ${calls} (STATUS_WAIT_MS=3000, the default)`);
  row('p50 of the answer, ms', ours, theirs, ({ latencies }) => percentile(latencies, 0.5), '≤ 1');
});

/** Starts both with the simulator of the gateway, warms them up, and ends them. */
async function measureBoth(
  waitMs: string,
  measure: (gateway: Contender, reference: Contender) => Promise<void>,
): Promise<void> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    const { authorityUrl, ...gateway } = await startGateway(waitMs);
    ends.push(gateway.end);
    const reference = await startReference(authorityUrl, `reference-${waitMs}`);
    ends.push(reference.end);
    await round(gateway, WARM_UP, 32);
    await round(reference, Math.ceil(WARM_UP / 4), 32);
    await measure(gateway, reference);
  } finally {
    for (const end of ends.reverse()) await end();
  }
}

/** Measures both in turn, round by round. */
async function alternate(ours: () => Promise<Measured>, theirs: () => Promise<Measured>): Promise<Measured[][]> {
  const measured: [Measured[], Measured[]] = [[], []];
  for (let count = 0; count < ROUNDS; count += 1) {
    measured[0].push(await ours());
    measured[1].push(await theirs());
  }
  return measured;
}

/** Seconds of processor time of a program and its PostgreSQL. */
function processorTime({ program, postgres }: Contender): number {
  return processorSeconds(program) + processorSecondsOfTree(postgres);
}

async function round(contender: Contender, count: number, callers: number, suffix = ''): Promise<Measured> {
  const { load, decided } = contender;
  const calls = contender.calls(count).map((call) => ({ ...call, path: call.path + suffix }));
  const before = processorTime(contender);
  const { seconds, latencies } = await load.round(calls, callers);
  await decided();
  return {
    rate: count / seconds,
    latencies: latencies.map((latency) => latency * 1_000),
    processorMs: ((processorTime(contender) - before) / count) * 1_000,
  };
}

/** Prints the medians of both, and the median of the ratios of the rounds. */
function row(
  name: string,
  ours: readonly Measured[] = [],
  theirs: readonly Measured[] = [],
  value: (round: Measured) => number,
  goal?: string,
): void {
  const ratios = ours.map((round, index) => value(round) / value(theirs[index] as Measured)).sort((a, b) => a - b);
  const [mine, other] = [ours, theirs].map((rounds) => median(rounds.map(value)).toFixed(1));
  const spread = `${ratios[0]?.toFixed(2)} to ${ratios.at(-1)?.toFixed(2)}`;
  line(
    `${name}: gateway ${mine}, reference ${other}; ${median(ratios).toFixed(2)} × (${spread})${goal ? `, goal ${goal}` : ''}`,
  );
}

async function startGateway(waitMs: string): Promise<Contender & { authorityUrl: string }> {
  const settings = { STATUS_WAIT_MS: waitMs };
  const dataDir = path.join(folder, `gateway-${waitMs}`);
  const { standalone, nextCalls, decided } = await startSubject(dataDir, date, LINES, 'standalone', settings);
  const program = standalone.child.pid as number;
  const load = createLoad(standalone.demo.base_url, (status, text) => status === 200 && /"track_?id":"/i.test(text));
  return {
    authorityUrl: standalone.demo.authority_url,
    load,
    program,
    postgres: childCalled(program, 'postgres'),
    calls: nextCalls,
    decided,
    async end() {
      load.close();
      await standalone.end('SIGTERM');
    },
  };
}

async function startReference(authorityUrl: string, name: string): Promise<Contender> {
  const server = await startEmbeddedPostgres({ dataDir: path.join(folder, name), settings: EMBEDDED_SETTINGS });
  const databaseUrl = server.localUrl('reference');
  await createDatabaseIfMissing(databaseUrl);
  const { p12, password } = certificate();
  const file = path.join(folder, `${name}.p12`);
  fs.writeFileSync(file, p12);
  const env = {
    ...process.env,
    AUTHORITY_URL: authorityUrl,
    DATABASE_URL: databaseUrl,
    P12: file,
    P12_PASSWORD: password,
  };
  const child = fork(fileURLToPath(new URL('./reference/library-reference.js', import.meta.url)), [], { env });
  const failed = once(child, 'exit').then(([code]) => Promise.reject(new Error(`the reference ended with ${code}`)));
  const [port] = await Promise.race([once(child, 'message'), failed]);
  failed.catch(() => undefined);
  const database = openDatabase(databaseUrl, { max: 1 });
  let last = 0;
  const load = createLoad(`http://127.0.0.1:${port}`, (status) => status === 200);
  return {
    load,
    program: child.pid as number,
    postgres: server.pid,
    calls: (count) =>
      Array.from({ length: count }, () => {
        last += 1;
        const document = invoice(encfOf(last), LINES, { issuer: ISSUER, buyer: BUYER, date });
        return {
          path: '/invoices',
          headers: { 'content-type': 'application/json' },
          body: Buffer.from(JSON.stringify(document)),
        };
      }),
    async decided() {
      const open = { name: 'open', text: "SELECT 1 FROM invoice WHERE status = 'EnProceso' LIMIT 1" };
      while ((await database.query(open, [])).rows.length > 0) await delay(200);
    },
    async end() {
      load.close();
      child.disconnect();
      await database.close();
      await server.stop();
    },
  };
}
