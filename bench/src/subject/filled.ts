import { type Database, openDatabase } from '@ecf/postgres';
import { embeddedDatabaseUrl } from '@ecf/test-servers/deployment';
import { createLoad, type Load } from '../harness/load.js';
import { seconds } from '../harness/measure.js';
import { line } from '../harness/report.js';
import { fillEmission } from '../inputs/fill-emission.js';
import { fillReadModels } from '../inputs/fill-read-models.js';
import { type KnownDocument, lastNumber, type Spread, someDocuments } from '../inputs/ten-years.js';
import { type Subject, startSubject } from './subject.js';

/** Lines of the submitted invoices. */
const LINES = 10;
/** Documents that look-ups name. */
const KNOWN = 400;
const LOADING = {
  synchronous_commit: 'off',
  session_replication_role: 'replica',
  maintenance_work_mem: '1GB',
  work_mem: '256MB',
};
/** While it is filled, a server that loses power is filled again. */
const CARELESS = { fsync: 'off', full_page_writes: 'off', checkpoint_timeout: '30min' };

/** A standalone deployment whose databases were filled, and connections to them. */
export interface Filled {
  readonly spread: Spread;
  readonly every: number;
  readonly subject: Subject;
  readonly load: Load;
  readonly emission: Database;
  readonly query: Database;
  readonly known: readonly KnownDocument[];
  end(): Promise<void>;
}

/** What is filled. */
export interface Filling {
  /** As in {@link Spread}. */
  readonly from: Date;
  readonly rows: number;
  /** As in {@link fillEmission}. */
  readonly every: number;
  readonly partitions?: number;
  readonly parts: readonly string[];
}

/** Starts a deployment once, fills its databases, and starts it anew, so that every session plans with the present statistics. */
export async function startFilled(
  dataDir: string,
  date: string,
  { from, rows, every, partitions, parts }: Filling,
): Promise<Filled> {
  const first = await startSubject(dataDir, date, LINES);
  const { issuer_rnc: issuer } = first.standalone.demo;
  const open = (service: string, settings = {}) =>
    openDatabase(embeddedDatabaseUrl(dataDir, service), { max: 3, statementTimeoutMs: 3 * 3_600_000, settings });
  await settledFirstInvoice(open);
  const loading = { emission: open('emission', LOADING), query: open('query', LOADING) };
  const account = (
    await loading.emission.query<{ account_id: string }>('SELECT account_id FROM taxpayers WHERE rnc = $1', [issuer])
  ).rows[0]?.account_id as string;
  const spread = { from, rows, issuer, account };
  await setServer(loading.emission, CARELESS);
  const fills = {
    emission: () => fillEmission(loading.emission, spread, every, partitions),
    query: () => fillReadModels(loading.query, spread),
  };
  const took = await seconds(async () => {
    await Promise.all(Object.entries(fills).map(([part, fill]) => (parts.includes(part) ? fill() : undefined)));
    for (const database of Object.values(loading)) await database.query('VACUUM (ANALYZE)');
  }, 1);
  await setServer(loading.emission, null);
  await loading.emission.query('CHECKPOINT');
  for (const database of Object.values(loading)) await database.close();
  await first.standalone.end('SIGTERM');

  let subject = first;
  const started = await seconds(async () => {
    subject = await startSubject(dataDir, date, LINES, 'standalone', { STATUS_WAIT_MS: '3000' }, lastNumber(spread));
  }, 1);
  line(
    `${rows.toLocaleString('en')} documents: filled in ${took.toFixed(0)} s, then started in ${started.toFixed(1)} s`,
  );
  const load = createLoad(
    subject.standalone.demo.base_url,
    (status, text) => status === 200 && /"track_?id":"/i.test(text),
  );
  const [emission, query] = [open('emission'), open('query')];
  return {
    ...{ spread, every, subject, load, emission, query },
    known: await someDocuments(emission, spread, KNOWN, every),
    async end() {
      load.close();
      await Promise.all([emission.close(), query.close()]);
      await subject.standalone.end('SIGTERM');
    },
  };
}

/** Waits until the read models have the verdict on the first invoice, of which all rows are copies. */
async function settledFirstInvoice(open: (service: string) => Database): Promise<void> {
  const query = open('query');
  const settled = "SELECT 1 FROM invoice WHERE settled AND encf = 'E310000000001'";
  while ((await query.query(settled)).rows.length === 0) await new Promise((resolve) => setTimeout(resolve, 100));
  await query.close();
}

async function setServer(database: Database, settings: Readonly<Record<string, string>> | null): Promise<void> {
  for (const [name, value] of Object.entries(settings ?? CARELESS))
    await database.query(settings === null ? `ALTER SYSTEM RESET ${name}` : `ALTER SYSTEM SET ${name} = '${value}'`);
  await database.query('SELECT pg_reload_conf()');
}
