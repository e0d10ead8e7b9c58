import type { Database } from '@ecf/postgres';
import { addSums } from './query-data.js';
import { copies, documents, lastDays, months, type Spread } from './ten-years.js';

const FIRST_INVOICE = "encf = 'E310000000001'";
/** Events of the feed for each document, and the days that it keeps them. */
const EVENTS_EACH = 2;
const EVENT_DAYS = 91;

/**
 * Fills the read models of the query service, the sums and the feed of the last 91 days. Every row is a copy of the first invoice's;
 * one in twenty documents is rejected. Indexes of `invoice` are made after its rows.
 */
export async function fillReadModels(database: Database, spread: Spread): Promise<void> {
  const indexes = await database.query<{ name: string; definition: string }>(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS definition FROM pg_index
      WHERE indrelid = 'invoice'::regclass AND NOT indisprimary`,
  );
  for (const { name } of indexes.rows) await database.query(`DROP INDEX ${name}`);
  for (const { first, last } of months(spread)) {
    const source = documents(spread, `generate_series(${first}::bigint, ${last})`);
    await database.query(await copies(database, 'invoice', FIRST_INVOICE, source, INVOICE));
    await database.query(`INSERT INTO invoice_change SELECT 'TesteCF', encf, issuer, 3, created FROM ${source}`);
    await database.query(
      `INSERT INTO delivery SELECT 'TesteCF', encf, issuer, 1, CASE WHEN k % 2000 = 7 THEN 'failed' ELSE 'delivered' END
         FROM ${source} WHERE type <> '32'`,
    );
  }
  for (const { definition } of indexes.rows) await database.query(definition);
  for (const table of ['invoice_rollup', 'buyer_rollup', 'rejection_rollup']) await database.query(`TRUNCATE ${table}`);
  await addSums(database, 'true', []);
  await fillFeed(database, spread);
}

const STATUS = `CASE WHEN d.n % 20 = 7 THEN 'Rechazado' WHEN d.n % 33 = 5 THEN 'AceptadoCondicional' ELSE 'Aceptado' END`;
const INVOICE = {
  encf: 'd.encf',
  issuer_rnc: 'd.issuer',
  id: 'd.id',
  ecf_type: 'd.type',
  route: 'd.route',
  status: STATUS,
  messages: `CASE WHEN d.n % 20 = 7 THEN json_build_array(json_build_object('codigo', (2000 + d.n % 300)::text,
    'valor', 'El campo MontoTotal del área Totales de la sección Encabezado no es válido')) ELSE '[]' END`,
  track_id: 'd.track_id',
  buyer_rnc: 'd.buyer_rnc',
  buyer_name: `'Comprador de prueba ' || d.buyer_rnc`,
  date_issued: `(d.created - interval '4 hours')::date`,
  created_at: 'd.created',
  signed_at: 'd.created',
  total_amount: 'd.amount',
  total_itbis: 'round(d.amount / 6.55, 2)',
  reference: 'd.reference',
  xml_path: 'd.path',
  xml_checksum: 'd.sha256',
};

async function fillFeed(database: Database, spread: Spread): Promise<void> {
  const source = documents(spread, lastDays(spread, EVENT_DAYS));
  const template = '(SELECT * FROM feed_event WHERE account_id IS NOT NULL ORDER BY id LIMIT 1) AS t';
  await database.query(
    `INSERT INTO feed_event (occurrence, env, rnc, account_id, taxpayers, type, time, subject, data, kept_at)
     SELECT 'bench:' || k || ':' || e, t.env, issuer, account, t.taxpayers, t.type, created, t.subject, t.data, created
       FROM ${source} CROSS JOIN generate_series(1, ${EVENTS_EACH}) AS e CROSS JOIN ${template} ORDER BY k`,
  );
}
