// The status poller: decisions a second, and queries to the authority for each decision. It runs in this process on a real
// PostgreSQL; the authority is a bare HTTP server here. A decision counts once its event was published. The reference
// queries the same server as often and with as many in flight, by got alone, and stores each answer with one durable statement.
//
// POLLER_DOCUMENTS (1000) a round, POLLER_ROUNDS (4); BENCH_SECONDS (180) ends it.
import { randomUUID } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { documentKey, type InvoiceChanged, TOPICS } from '@ecf/contracts';
import { EMBEDDED_SETTINGS } from '@ecf/deployment';
import { startEmbeddedPostgres } from '@ecf/deployment/postgres';
import type { Environment } from '@ecf/domain';
import { createInProcessBus, makeEvent } from '@ecf/service-kit/bus';
import { createMemoryDeadLetters } from '@ecf/service-kit/dead-letters';
import { createDatabaseIfMissing, openDatabase } from '@ecf/service-kit/postgres';
import { createMetrics } from '@ecf/service-kit/telemetry';
import { createStatusPoller, readStatusPollerConfig } from '@ecf/status-poller';
import { silentLogger, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import got from 'got';
import { benchFolder, endAfter } from './harness/ending.js';
import { median, percentile, seconds, together } from './harness/measure.js';
import { heading, line } from './harness/report.js';
import { encfOf, ISSUER } from './inputs/sample.js';

const DOCUMENTS = Number(process.env.POLLER_DOCUMENTS ?? 1_000);
const ROUNDS = Number(process.env.POLLER_ROUNDS ?? 4);
const AT_ONCE = 32;
/** Each environment has its own rate limit; the bench uses two, so that it does not measure the limit. */
const ENVIRONMENTS: readonly Environment[] = ['TesteCF', 'eCF'];
/** Milliseconds to the first query in the second part. The default is 5,000, so times are a twenty-fifth. */
const FIRST_QUERY_MS = 200;

/** The authority answers once it is resolved. */
let release: Promise<void> = Promise.resolve();
let queries = 0;
let numbers = 0;

const authority = http.createServer((request, response) => {
  queries += 1;
  const trackId = new URL(request.url as string, 'http://authority').searchParams.get('trackid') as string;
  release.then(() => {
    // `<milliseconds since 1970 of the decision>.<anything>`
    const decided = Date.now() >= Number(trackId.split('.')[0]);
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        trackId,
        codigo: decided ? '1' : '3',
        estado: decided ? 'Aceptado' : 'En Proceso',
        rnc: ISSUER,
        encf: encfOf(1),
        secuenciaUtilizada: decided,
        fechaRecepcion: '3/2/2026 8:00:01 AM',
        mensajes: [{ valor: '', codigo: 0 }],
      }),
    );
  });
});
await new Promise<void>((resolve) => {
  authority.listen(0, '127.0.0.1', resolve);
});
const authorityUrl = `http://127.0.0.1:${(authority.address() as AddressInfo).port}`;
endAfter(Number(process.env.BENCH_SECONDS ?? 180));
const folder = benchFolder();
const postgres = await startEmbeddedPostgres({ dataDir: path.join(folder, 'postgres'), settings: EMBEDDED_SETTINGS });
try {
  await throughput();
  await queriesPerDecision();
} finally {
  authority.close();
  authority.closeAllConnections();
  await postgres.stop();
}

async function throughput(): Promise<void> {
  const poller = await startPoller(10);
  const bare = await bareLoop();
  const ratios: number[] = [];
  const rates: number[] = [];
  const perDecisions: number[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const open = holdAnswers();
    const before = queries;
    await poller.publish(Array.from({ length: DOCUMENTS }, () => trackIdOf(0)));
    const mine = await seconds(() => {
      open();
      return poller.published();
    }, DOCUMENTS);
    const perDecision = (queries - before) / DOCUMENTS;
    const reference = await seconds(bare.run, DOCUMENTS);
    // The first round warms up.
    if (round === 0) continue;
    rates.push(DOCUMENTS / mine);
    ratios.push(reference / mine);
    perDecisions.push(perDecision);
  }
  await bare.stop();
  await poller.stop();
  heading(`decisions of a backlog, ${ROUNDS} rounds of ${DOCUMENTS}, ${AT_ONCE} queries in flight`);
  line(`${median(rates).toFixed(0)} decisions/s, ${median(perDecisions).toFixed(2)} queries each`);
  const spread = `${Math.min(...ratios).toFixed(2)}–${Math.max(...ratios).toFixed(2)}`;
  line(`rate: ${median(ratios).toFixed(2)} × that of queries by got with one durable statement each; ${spread}`);
}

async function queriesPerDecision(): Promise<void> {
  const poller = await startPoller(FIRST_QUERY_MS);
  heading('queries for each decision, by the time of the authority (in times to the first query)');
  for (const times of [0.5, 1.5, 3, 6, 20]) {
    const count = 60;
    const before = queries;
    const began = Date.now();
    const decisionMs = began + times * FIRST_QUERY_MS;
    await poller.publish(Array.from({ length: count }, () => trackIdOf(decisionMs)));
    await poller.published();
    const late = poller.times.map((time) => (time - decisionMs) / FIRST_QUERY_MS);
    line(
      `${times}: ${((queries - before) / count).toFixed(2)} queries; known ${percentile(late, 0.5).toFixed(1)} times after the decision (p99 ${percentile(late, 0.99).toFixed(1)})`,
    );
  }
  await poller.stop();
}

/** A poller with its database, and the events that it consumes and publishes. */
async function startPoller(firstQueryMs: number) {
  const clock = () => new Date();
  const bus = createInProcessBus({ logger: silentLogger, clock, deadLetters: createMemoryDeadLetters() });
  const times: number[] = [];
  let expected = 0;
  let all: () => void = () => undefined;
  await bus.subscribe({
    topics: [TOPICS.invoiceStatus.name],
    group: 'bench',
    handler: async (event) => {
      if (!(event.data as { final: boolean }).final) return;
      times.push(Date.now());
      if (times.length >= expected) all();
    },
  });
  const config = readStatusPollerConfig({
    DATABASE_URL: postgres.url(`poller_${firstQueryMs}`),
    ...TEST_SERVICE_KEYS['status-poller'],
    AUTHORITY_URL: authorityUrl,
    FIRST_QUERY_MS: String(firstQueryMs),
    POLL_RATE: '1000',
    POLL_IDLE_MS: '50',
    POLL_CONCURRENCY: String(AT_ONCE),
    LOG_LEVEL: 'silent',
  });
  const poller = createStatusPoller(config, {
    bus,
    emission: {
      findSubmission: async () => ({ invoice: null }),
      pageOfUndecided: async () => ({ invoices: [], next: null }),
      documentToken: async () => ({ token: 'token' }),
    },
    logger: silentLogger,
    metrics: createMetrics(),
  });
  await poller.start();
  return {
    times,
    /** Publishes submissions; resolves when the poller has handled them. */
    async publish(trackIds: readonly string[]): Promise<void> {
      times.length = 0;
      expected = trackIds.length;
      const events = trackIds.map((trackId, index) => invoiceEvent(trackId, index));
      for (let next = 0; next < events.length; next += 100) await bus.publish(events.slice(next, next + 100));
    },
    published(): Promise<void> {
      if (times.length >= expected) return Promise.resolve();
      return new Promise((resolve) => {
        all = resolve;
      });
    },
    async stop(): Promise<void> {
      await poller.stop();
      await bus.close();
    },
  };
}

async function bareLoop() {
  const url = postgres.url('reference');
  await createDatabaseIfMissing(url);
  const database = openDatabase(url, { max: 8 });
  await database.query('CREATE TABLE answer (id BIGSERIAL PRIMARY KEY, track_id TEXT NOT NULL, body TEXT NOT NULL)');
  const client = got.extend({
    agent: { http: new http.Agent({ keepAlive: true, maxSockets: AT_ONCE }) },
    retry: { limit: 0 },
    timeout: { request: 20_000 },
    headers: { authorization: 'bearer token', accept: 'application/json' },
  });
  const statement = { name: 'answer', text: 'INSERT INTO answer (track_id, body) VALUES ($1, $2)' };
  return {
    run: together(async () => {
      const trackId = trackIdOf(0);
      const address = `${authorityUrl}/TesteCF/consultaresultado/api/consultas/estado?trackid=${trackId}`;
      const { body } = await client.get(address);
      await database.query(statement, [trackId, body]);
    }, AT_ONCE),
    stop: () => database.close(),
  };
}

function holdAnswers(): () => void {
  let open: () => void = () => undefined;
  release = new Promise((resolve) => {
    open = resolve;
  });
  return open;
}

/** A trackId that the authority decides at a time (milliseconds since 1970). */
function trackIdOf(decisionMs: number): string {
  return `${Math.round(decisionMs)}.${randomUUID()}`;
}

function invoiceEvent(trackId: string, index: number) {
  numbers += 1;
  const now = new Date().toISOString();
  const data: InvoiceChanged = {
    id: numbers,
    env: ENVIRONMENTS[index % ENVIRONMENTS.length] as Environment,
    issuer_rnc: ISSUER,
    encf: encfOf(numbers),
    account_id: 'account-1',
    revision: 3,
    ecf_type: '31',
    route: 'ecf',
    state: 'processing',
    status: 'EnProceso',
    final: false,
    code: '3',
    messages: [],
    sequence_used: null,
    issuer_name: 'COMERCIAL EL MUELLE SRL',
    buyer_rnc: null,
    buyer_name: null,
    date_issued: '2026-03-02',
    created_at: now,
    signed_at: now,
    total_amount: '118.00',
    total_itbis: '18.00',
    modified_encf: null,
    security_code: 'abcdef',
    qr_url: 'https://example.com',
    xml_storage_path: 'x.xml',
    xml_checksum: '00',
    rfce_storage_path: null,
    rfce_checksum: null,
    track_id: trackId,
    attempts: [
      {
        attempt: 1,
        track_id: trackId,
        submitted_at: now,
        status: 'EnProceso',
        code: '3',
        messages: [],
        sequence_used: null,
        date_received: null,
        final: false,
      },
    ],
  };
  const draft = {
    topic: TOPICS.invoices.name,
    type: 'invoice.changed',
    source: 'emission',
    subject: data.encf,
    key: documentKey(data),
    data,
  };
  return makeEvent(draft, { id: randomUUID(), time: new Date() });
}
