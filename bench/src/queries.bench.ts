// GET of lists, counts, aggregates and single invoices, by size of the issuer, against the smallest one; then the rebuild.
import path from 'node:path';
import type { EmissionOperations, InvoiceChanged } from '@ecf/contracts';
import { startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { serve } from '@ecf/http';
import { IDENTITY_HEADER } from '@ecf/http/identity';
import { createLogger } from '@ecf/kit/telemetry';
import { openDatabase } from '@ecf/postgres';
import { createQuery, readQueryConfig } from '@ecf/query';
import { identitiesOf, TEST_SERVICE_KEYS } from '@ecf/test-support/services';
import { benchFolder } from './harness/ending.js';
import { median, percentile, seconds } from './harness/measure.js';
import { heading, line } from './harness/report.js';
import { ACCOUNT, loadInvoices } from './inputs/query-data.js';

/** One issuer for each number of invoices; the first is the reference of the others. `QUERY_SIZES=10000,1000000,10000000`. */
const SIZES = (process.env.QUERY_SIZES ?? '10000,1000000').split(',').map(Number);
const ROUNDS = Number(process.env.QUERY_ROUNDS ?? 60);
const REBUILT = 20_000;
const issuerOf = (size: number) => String(100_000_000 + SIZES.indexOf(size));
const YEAR = { 'start-date': '01-07-2025', 'end-date': '30-06-2026' };
const ODD = { 'start-date': '17-08-2025', 'end-date': '05-06-2026' };

const MONTH = { 'start-date': '01-06-2026', 'end-date': '30-06-2026' };
const DAY = { 'start-date': '15-06-2026', 'end-date': '15-06-2026' };

/** An issuer with that many invoices, and cursors of two listings, 300 rows before their ends. */
interface Issuer {
  readonly size: number;
  readonly byTime: string;
  readonly byAmount: string;
}

const QUESTIONS: readonly (readonly [
  name: string,
  path: (issuer: Issuer) => string,
  headers: Record<string, string>,
])[] = [
  ['list, 200 newest', () => '/invoices/', YEAR],
  ['list, 200 at offset 9,800', () => '/invoices/?offset=9800', YEAR],
  ['list, 200 after a cursor at the end', ({ byTime }) => `/invoices/?cursor=${byTime}`, YEAR],
  [
    'list by amount, 200 after a cursor at the end',
    ({ byAmount }) => `/invoices/?sort=total_amount&cursor=${byAmount}`,
    YEAR,
  ],
  ['list, 200 newest of a buyer', () => '/invoices/?buyer_rnc=100000017', YEAR],
  ['list, 200 newest in process (few)', () => '/invoices/?status=EnProceso', YEAR],
  ['list, changed in the last hour', () => '/invoices/?updated_since=2026-07-01T03:00:00Z', YEAR],
  ['list, deliveries that failed', () => '/invoices/?delivery_status=failed,refused', YEAR],
  ['list of a month by a name of the buyer', () => '/invoices/?buyer_name=prueba%204999', MONTH],
  ['list, 200 in the middle', ({ size }) => `/invoices/?offset=${size / 2}`, YEAR],
  ['count, a year', () => '/invoices/count/', YEAR],
  ['aggregate, a year', () => '/invoices/aggregate/', YEAR],
  ['aggregate, 17 August to 5 June', () => '/invoices/aggregate/?top_clients_limit=50', ODD],
  ['aggregate, a day by hour', () => '/invoices/aggregate/', DAY],
  ['one invoice', ({ size }) => `/invoices/E31${String(size / 2).padStart(10, '0')}`, {}],
];

const folder = benchFolder();
const postgres = await startEmbeddedPostgres({
  dataDir: path.join(folder, 'postgres'),
  settings: {
    shared_buffers: '512MB',
    max_wal_size: '8GB',
    effective_cache_size: '2GB',
    maintenance_work_mem: '256MB',
  },
});
const stops: (() => Promise<unknown> | unknown)[] = [() => postgres.stop()];
try {
  await run(postgres.url('ecf_query'));
} finally {
  for (const stop of stops.reverse()) await stop();
}

async function run(databaseUrl: string): Promise<void> {
  const pages = rebuiltInvoices();
  const config = readQueryConfig({
    DATABASE_URL: databaseUrl,
    ...TEST_SERVICE_KEYS.query,
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    DATA_DIR: folder,
  });
  const query = createQuery(config, {
    logger: createLogger({ service: 'bench', level: 'warn' }),
    emission: pages.emission,
    reception: {
      findReceived: async () => ({ received: [] }),
      pageOfReceived: async () => ({ received: [], next: null }),
    },
    taxpayers: null,
  });
  await query.start();
  stops.push(() => query.stop());
  const server = await serve(query.app, { host: '127.0.0.1', port: 0 });
  stops.push(() => server.stop());
  const database = openDatabase(databaseUrl, { max: 2, statementTimeoutMs: 3_600_000 });
  stops.push(() => database.close());

  heading('Loading');
  for (const size of SIZES) {
    const took = await seconds(() => loadInvoices(database, issuerOf(size), size), 1);
    line(`${size.toLocaleString('en')} invoices: ${took.toFixed(0)} s`);
  }
  line(`vacuum: ${(await seconds(() => database.query('VACUUM (ANALYZE)'), 1)).toFixed(0)} s`);

  heading('Answers over HTTP, one caller, each in turn with the smallest issuer');
  const [smallest = 0, ...larger] = SIZES;
  const issuers = new Map<number, Issuer>();
  for (const size of SIZES) issuers.set(size, await issuerWith(server.url, size));
  for (const [name, address, headers] of QUESTIONS) {
    const times = new Map(SIZES.map((size) => [size, [] as number[]]));
    for (let round = -3; round < ROUNDS; round += 1)
      for (const size of SIZES) {
        const took = await seconds(
          () => ask(server.url, address(issuers.get(size) as Issuer), { ...headers, 'rnc-issuing': issuerOf(size) }),
          1,
        );
        if (round >= 0) times.get(size)?.push(took);
      }
    const reference = times.get(smallest) as number[];
    const of = (size: number) => times.get(size) as number[];
    line(
      `${name}: ${ms(median(reference))} (p95 ${ms(percentile(reference, 0.95))}) with ${smallest.toLocaleString('en')}`,
    );
    for (const size of larger)
      line(
        `  ${size.toLocaleString('en')}: ${(median(of(size)) / median(reference)).toFixed(2)} × (goal ≤ 2); ${ms(median(of(size)))} (p95 ${ms(percentile(of(size), 0.95))})`,
      );
  }

  heading('Rebuild from an owner that costs nothing');
  pages.filled = true;
  const took = await seconds(async () => {
    await query.internal.startRebuild({});
    for (;;) {
      const state = await query.internal.rebuildState({});
      if (!state.building) {
        if (state.failure !== null) throw new Error(state.failure);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }, 1);
  line(
    `${REBUILT.toLocaleString('en')} documents in ${took.toFixed(1)} s: ${Math.round(REBUILT / took).toLocaleString('en')} a second`,
  );
}

async function issuerWith(url: string, size: number): Promise<Issuer> {
  const cursor = async (sort: string) => {
    const address = `/invoices/?sort=${sort}&limit=1&offset=${size - 300}`;
    return JSON.parse(await ask(url, address, { ...YEAR, 'rnc-issuing': issuerOf(size) })).next_cursor as string;
  };
  return { size, byTime: await cursor('-created_at'), byAmount: await cursor('total_amount') };
}

async function ask(url: string, address: string, headers: Record<string, string>): Promise<string> {
  const caller = {
    kind: 'account',
    account_id: ACCOUNT,
    environments: ['TesteCF'],
    env: 'TesteCF',
    env_given: true,
    taxpayers_revision: 0,
    request_id: 'bench',
  } as const;
  const call = { audience: 'query', method: 'GET', path: address } as const;
  const identity = await identitiesOf('gateway').sign({ ...caller, environments: ['TesteCF'] }, call);
  const response = await fetch(`${url}${address}`, { headers: { ...headers, [IDENTITY_HEADER]: identity } });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${address} answered ${response.status}: ${text.slice(0, 300)}`);
  return text;
}

/** An owner without new changes; for the rebuild it has documents in memory. */
function rebuiltInvoices(): { emission: Omit<EmissionOperations, 'sealedCertificate'>; filled: boolean } {
  const refuse = async () => {
    throw new Error('this bench does not query it');
  };
  const owner = {
    filled: false,
    emission: {
      authorityToken: refuse,
      rawAnswers: refuse,
      findInvoices: async () => ({ invoices: [] }),
      pageOfInvoices: async ({ after, limit }: { after: number; limit: number }) => {
        if (!owner.filled) return { invoices: [], next: null };
        const invoices = Array.from({ length: limit }, (_, index) => invoiceAt(after + index + 1));
        const last = after + limit;
        return { invoices, next: last >= REBUILT ? null : last };
      },
    },
  };
  return owner;
}

function invoiceAt(id: number): InvoiceChanged {
  const at = new Date(Date.UTC(2026, 0, 1) + id * 60_000).toISOString();
  const attempt = {
    attempt: 1,
    track_id: `00000000-0000-4000-8000-${String(id).padStart(12, '0')}`,
    submitted_at: at,
    status: 'Aceptado' as const,
    code: '1',
    messages: [],
    sequence_used: true,
    date_received: at,
    final: true,
  };
  const { attempt: _number, submitted_at: _at, date_received: _received, ...verdict } = attempt;
  return {
    id,
    env: 'TesteCF',
    issuer_rnc: '190000001',
    encf: `E31${String(id).padStart(10, '0')}`,
    account_id: ACCOUNT,
    revision: 3,
    ecf_type: '31',
    route: 'ecf',
    state: 'accepted',
    ...verdict,
    issuer_name: 'Emisor de prueba',
    buyer_rnc: String(100_000_000 + (id % 5_000)),
    buyer_name: `Comprador de prueba ${id % 5_000}`,
    date_issued: '2026-06-20',
    created_at: at,
    signed_at: at,
    total_amount: '1180.00',
    total_itbis: '180.00',
    modified_encf: null,
    security_code: 'aB+/9z',
    qr_url: `https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=190000001&ENCF=E31${id}&MontoTotal=1180.00`,
    xml_storage_path: `TesteCF/ecf/190000001/issued/2026/06/190000001E31${id}-0123456789ab.xml`,
    xml_checksum: '0'.repeat(64),
    rfce_storage_path: null,
    rfce_checksum: null,
    attempts: [attempt],
  };
}

function ms(value: number): string {
  return `${(value * 1_000).toFixed(1)} ms`;
}
