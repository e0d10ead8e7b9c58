// Events to the webhooks of as many accounts, over real HTTP, with a tenth of the receivers dead: half of these refuse connections, half
// never answer. In turn with the same webhooks whose receivers are all alive, which is the reference. The query service runs in this
// process on a PostgreSQL of its own, the receivers in another process. The events of a round are put into the feed at once. Fails if
// an event of a live receiver is missing, comes twice or out of order, or if a signature is wrong.
//
// Settings: BENCH_WEBHOOKS (100), BENCH_DEAD (10) of them, BENCH_EVENTS (50) for each and round, BENCH_ROUNDS (3); BENCH_SECONDS (240)
// ends it.
import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { TaxpayerState } from '@ecf/contracts';
import { startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { createQuery, type Query, readQueryConfig } from '@ecf/query';
import { createInProcessBus, makeEvent } from '@ecf/service-kit/bus';
import { createMemoryDeadLetters } from '@ecf/service-kit/dead-letters';
import { openDatabase } from '@ecf/service-kit/postgres';
import { createMetrics } from '@ecf/service-kit/telemetry';
import { silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { benchFolder, endAfter } from '../harness/ending.js';
import { median } from '../harness/measure.js';
import { processorSeconds, processorSecondsOfTree } from '../harness/processes.js';
import { heading, line } from '../harness/report.js';
import type { Report } from '../subject/webhook-receivers.js';

const WEBHOOKS = Number(process.env.BENCH_WEBHOOKS ?? 100);
const DEAD = Number(process.env.BENCH_DEAD ?? Math.ceil(WEBHOOKS / 10));
const EVENTS = Number(process.env.BENCH_EVENTS ?? 50);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 3);
/** Events of one document, which must come in their order. */
const EVENTS_OF_SUBJECT = 4;
/** A receiver that gets an event twice gets it in this time. */
const SETTLE_MS = 500;

/** An account with one taxpayer and one webhook. */
interface Customer {
  readonly account: string;
  readonly rnc: string;
  readonly webhookId: string;
}
type Kind = 'alive' | 'dead';
interface Round {
  rate: number;
  /** Seconds of processor time for a delivery, of the service and of PostgreSQL. */
  service: number;
  postgres: number;
  verified: number;
}

endAfter(Number(process.env.BENCH_SECONDS ?? 240));
const folder = benchFolder();
const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres') });
const receivers = fork(new URL('../subject/webhook-receivers.js', import.meta.url));
const bus = createInProcessBus({
  logger: silentLogger,
  deadLetters: createMemoryDeadLetters(),
  clock: () => new Date(),
});
const query = startService(postgres.url('ecf_query'));
await query.start();
const database = openDatabase(postgres.url('ecf_query'), { max: 2 });
const customers: Customer[] = Array.from({ length: WEBHOOKS }, (_, n) => ({
  account: `account-${n}`,
  rnc: String(140_000_000 + n),
  webhookId: randomUUID(),
}));
const mortal = customers.slice(WEBHOOKS - DEAD);
let sequence = 0;
try {
  const addresses = await openWebhooks();
  heading(`${WEBHOOKS} webhooks, ${EVENTS} events for each and round, ${EVENTS_OF_SUBJECT} about each document`);
  const rounds: Record<Kind, Round[]> = { alive: [], dead: [] };
  for (let n = 0; n <= ROUNDS; n += 1)
    for (const kind of ['alive', 'dead'] as const) {
      await direct(kind, addresses);
      const taken = await round(kind);
      // The first round warms up.
      if (n > 0) rounds[kind].push(taken);
    }
  const words = { alive: 'all receivers alive (reference)', dead: `${DEAD} dead` };
  for (const kind of ['alive', 'dead'] as const) {
    const of = (what: keyof Round) => median(rounds[kind].map((each) => each[what]));
    const [service, sql] = [of('service'), of('postgres')].map((each) => `${(each * 1_000).toFixed(2)} ms`);
    const all = rounds[kind].map((each) => each.rate.toFixed(0)).join(', ');
    line(`${words[kind]}: ${of('rate').toFixed(0)} webhooks/s (${all})`);
    line(`  processor time for each: ${service} in the service, ${sql} in PostgreSQL`);
  }
  const ratios = rounds.dead.map(({ rate }, n) => rate / (rounds.alive[n]?.rate ?? Number.NaN));
  const spread = ratios.map((ratio) => ratio.toFixed(2)).join(', ');
  line(
    `to the live receivers with ${DEAD} dead: ${median(ratios).toFixed(2)} × the reference (goal 0.9); rounds: ${spread}`,
  );
  const verified = [...rounds.alive, ...rounds.dead].reduce((sum, each) => sum + each.verified, 0);
  line(`nothing missing, doubled or out of order; ${verified} signatures verified`);
} finally {
  receivers.disconnect();
  await query.stop();
  await bus.close();
  await database.close();
  await postgres.stop();
}

function startService(databaseUrl: string): Query {
  const config = readQueryConfig({
    DATABASE_URL: databaseUrl,
    DATA_DIR: folder,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    ...TEST_SERVICE_KEYS.query,
    ALLOW_PRIVATE_ADDRESSES: 'true',
  });
  return createQuery(config, {
    bus,
    logger: silentLogger,
    metrics: createMetrics(),
    emission: { pageOfInvoices: async () => ({ invoices: [], next: null }) } as never,
    reception: { pageOfReceived: async () => ({ received: [], next: null }) } as never,
    taxpayers: null,
  });
}

/**
 * Opens the receivers and creates the webhooks. Answers the address of each receiver by the account, and of dead ones
 * by `dead-`.
 */
async function openWebhooks(): Promise<Record<string, string>> {
  const dead = mortal.map(({ account }) => `dead-${account}`);
  const half = Math.ceil(dead.length / 2);
  const addresses = await asked<Record<string, string>>(receivers, {
    live: customers.map(({ account }) => account),
    hanging: dead.slice(0, half),
    closed: dead.slice(half),
  });
  const secrets: Record<string, string> = {};
  for (const { account, rnc, webhookId } of customers) {
    await bus.publish([taxpayerEvent(account, rnc)]);
    const webhook = { url: addresses[account] ?? '', types: null, environments: ['TesteCF' as const] };
    const made = await query.webhooks.createWebhook({ account_id: account, webhook_id: webhookId, webhook });
    secrets[account] = made.secret;
  }
  await asked(receivers, { secrets });
  return addresses;
}

/** Directs the webhooks whose receivers may be dead to live or dead ones. Events that waited for the dead ones are lost. */
async function direct(kind: Kind, addresses: Record<string, string>): Promise<void> {
  const change = async (what: (account: string) => { active?: boolean; url?: string }) => {
    for (const { account, webhookId } of mortal)
      await query.webhooks.changeWebhook({ account_id: account, webhook_id: webhookId, change: what(account) });
  };
  await change(() => ({ active: false }));
  await asked(receivers, 'hang up');
  await delay(SETTLE_MS);
  await change((account) => ({ active: true, url: addresses[kind === 'alive' ? account : `dead-${account}`] ?? '' }));
}

/** Puts the events of a round into the feed, waits until the live receivers have theirs, and checks what they got. */
async function round(kind: Kind): Promise<Round> {
  const expected = await appendEvents();
  const live = kind === 'alive' ? customers : customers.slice(0, WEBHOOKS - DEAD);
  const wanted = live.length * EVENTS;
  const used = () => [processorSeconds(process.pid), processorSecondsOfTree(postgres.pid)] as const;
  const before = used();
  const began = performance.now();
  await wakeService(expected);
  while ((await asked<number>(receivers, 'count')) < wanted) await delay(20);
  const seconds = (performance.now() - began) / 1_000;
  const [service, sql] = used().map((now, n) => (now - (before[n] as number)) / wanted) as [number, number];
  await delay(SETTLE_MS);
  const report = await asked<Report>(receivers, 'report');
  for (const { account, rnc } of live) refuseFaults(account, report.taken[account] ?? [], expected.get(rnc) ?? []);
  if (report.wrong > 0 || report.verified === 0)
    throw new Error(`${report.wrong} of ${report.verified} signatures are wrong`);
  return { rate: wanted / seconds, service, postgres: sql, verified: report.verified };
}

/** A replay of nothing: the service looks for new events now, and not within the next second. */
async function wakeService(expected: ReadonlyMap<string, readonly Appended[]>): Promise<void> {
  const after = [...expected.values()].at(-1)?.at(-1)?.id ?? '';
  const { account, webhookId } = customers[0] as Customer;
  await query.webhooks.replayWebhook({ account_id: account, webhook_id: webhookId, after });
}

interface Appended {
  id: string;
  encf: string;
}

/** Adds events of each taxpayer, mixed, and answers them in their order by taxpayer. */
async function appendEvents(): Promise<Map<string, Appended[]>> {
  const { rows } = await database.query<Appended & { rnc: string }>(
    `WITH added AS (INSERT INTO feed_event (occurrence, env, rnc, taxpayers, type, time, subject, data, kept_at)
       SELECT 'bench:' || r.rnc || ':' || $2 + n, 'TesteCF', r.rnc, '{}', 'invoice.accepted', now(),
              json_build_object('issuer_rnc', r.rnc, 'encf', 'E31' || lpad((($2 + n) / ${EVENTS_OF_SUBJECT})::text, 10, '0')),
              json_build_object('total_amount', 1180, 'status', 'Aceptado', 'message', repeat('x', 500)), now()
         FROM generate_series(0, $3 - 1) AS n, unnest($1::text[]) AS r(rnc) ORDER BY n, r.rnc
       RETURNING id, mark, rnc, subject->>'encf' AS encf)
     SELECT id || '-' || mark AS id, rnc, encf FROM added ORDER BY added.id`,
    [customers.map(({ rnc }) => rnc), sequence, EVENTS],
  );
  sequence += Math.ceil(EVENTS / EVENTS_OF_SUBJECT) * EVENTS_OF_SUBJECT;
  const expected = new Map<string, Appended[]>();
  for (const row of rows) expected.set(row.rnc, [...(expected.get(row.rnc) ?? []), row]);
  return expected;
}

function refuseFaults(account: string, taken: readonly string[], expected: readonly Appended[]): void {
  const places = new Map(expected.map(({ id }, place) => [id, place]));
  const missing = expected.filter(({ id }) => !taken.includes(id));
  const strange = taken.filter((id) => !places.has(id));
  const doubled = taken.length - new Set(taken).size;
  const last = new Map<string, number>();
  let disordered = 0;
  for (const id of taken) {
    const place = places.get(id) ?? -1;
    const encf = expected[place]?.encf ?? '';
    if (place < (last.get(encf) ?? -1)) disordered += 1;
    last.set(encf, place);
  }
  if (missing.length + strange.length + doubled + disordered === 0) return;
  const faults = `${missing.length} missing, ${strange.length} strange, ${doubled} doubled, ${disordered} out of order`;
  throw new Error(`of ${expected.length} events for ${account}: ${faults}`);
}

function taxpayerEvent(account_id: string, rnc: string) {
  const data: TaxpayerState = {
    rnc,
    account_id,
    account_active: true,
    revision: 1,
    previous_revision: 0,
    name: 'Bench',
    active: true,
    certificate: null,
    fingerprint: null,
    ranges: [],
    created_at: '2026-01-01T00:00:00-04:00',
  };
  const draft = { topic: 'taxpayers.v1', type: 'taxpayer.changed', source: 'gateway', subject: rnc, key: rnc };
  return makeEvent({ ...draft, data }, { id: randomUUID(), time: new Date() });
}

async function asked<T>(process: ChildProcess, message: object | string): Promise<T> {
  const answered = once(process, 'message');
  process.send(message);
  const [answer] = await answered;
  return answer as T;
}
