import { randomUUID } from 'node:crypto';
import type { Database } from '@ecf/postgres';

/** Invoices of an issuer: over the days of a year, three types, mostly accepted, some thousand buyers. */
const ROWS = `SELECT 'TesteCF' AS env, 'E' || type || lpad(n::text, 10, '0') AS encf, $1::text AS issuer_rnc, $2::bigint + n AS id,
    3 AS revision, true AS listed, true AS settled, type AS ecf_type, CASE type WHEN '32' THEN 'rfce' ELSE 'ecf' END AS route,
    CASE WHEN n % 4000 = 77 THEN 'EnProceso' WHEN n % 20 = 7 THEN 'Rechazado' WHEN n % 33 = 5 THEN 'AceptadoCondicional' ELSE 'Aceptado' END AS status,
    '1' AS code, CASE n % 20 WHEN 7 THEN json_build_array(json_build_object('codigo', (2000 + n % 300)::text,
      'valor', 'El campo MontoTotal del área Totales de la sección Encabezado no es válido')) ELSE '[]' END AS messages, true AS sequence_used, gen_random_uuid()::text AS track_id,
    CASE type WHEN '32' THEN NULL ELSE lpad((100000000 + (n * 7919) % 5000)::text, 9, '0') END AS buyer_rnc,
    CASE type WHEN '32' THEN NULL ELSE 'Comprador de prueba ' || (n * 7919) % 5000 END AS buyer_name,
    created::date AS date_issued, created AS created_at, created AS signed_at,
    ((n * 104729) % 5000000 / 100.0)::numeric(20, 2) AS total_amount, ((n * 104729) % 5000000 / 655.0)::numeric(20, 2) AS total_itbis,
    NULL::text AS modified_encf, NULL::text AS reference, NULL::text AS submitted_by, NULL::text AS request_id, false AS contingency,
    'aB+/9z' AS security_code,
    'https://ecf.dgii.gov.do/testecf/ConsultaTimbre?RncEmisor=' || $1 || '&RncComprador=131880681&ENCF=E31' || n
      || '&FechaEmision=20-06-2026&MontoTotal=1180.00&FechaFirma=20-06-2026%2010%3A00%3A00&CodigoSeguridad=aB%2B%2F9z' AS qr_url,
    'TesteCF/ecf/' || $1 || '/issued/2026/06/' || $1 || 'E31' || n || '-0123456789ab.xml' AS xml_path,
    encode(sha256(n::text::bytea), 'hex') AS xml_checksum, NULL::text AS rfce_path, NULL::text AS rfce_checksum,
    '[{"attempt":1,"track_id":"c9a64cdd-0000-4000-8000-000000000000","submitted_at":"2026-06-20T10:00:00-04:00","status":"Aceptado","code":"1","messages":[],"sequence_used":true,"date_received":"2026-06-20T10:00:01-04:00","final":true}]'::json AS attempts
  FROM (
    SELECT n, CASE WHEN n % 20 = 3 THEN '34' WHEN n % 4 = 1 THEN '32' ELSE '31' END AS type,
      timestamptz '2025-07-01 04:00:00Z' + (n - 1) * (interval '365 days' / $3::bigint) AS created
    FROM generate_series($4::bigint, $5::bigint) AS n) AS numbered`;

const SIGN = "CASE ecf_type WHEN '34' THEN -1 ELSE 1 END";
const DAY = "(created_at AT TIME ZONE 'UTC' - interval '4 hours')::date";
/** The day of each period. */
const DAYS = `CROSS JOIN LATERAL (VALUES ('created', ${DAY}), ('issued', date_issued)) AS days(period, day)`;
const CHUNK = 250_000;

/**
 * Fills the read models with invoices of one issuer, and the sums with their totals. These are the rows that the service
 * would write, at the speed of the database.
 */
export async function loadInvoices(database: Database, issuer: string, count: number): Promise<void> {
  const firstId = Number(issuer) * 100;
  for (let first = 1; first <= count; first += CHUNK) {
    const last = Math.min(count, first + CHUNK - 1);
    await database.query(`INSERT INTO invoice ${ROWS}`, [issuer, firstId, count, first, last]);
  }
  await database.query(
    'INSERT INTO invoice_change SELECT env, encf, issuer_rnc, revision, created_at FROM invoice WHERE issuer_rnc = $1',
    [issuer],
  );
  await database.query(
    `INSERT INTO delivery SELECT env, encf, issuer_rnc, 1, CASE WHEN id % 2000 = 4 THEN 'failed' ELSE 'delivered' END
       FROM invoice WHERE issuer_rnc = $1 AND ecf_type <> '32'`,
    [issuer],
  );
  await addSums(database, 'issuer_rnc = $1', [issuer]);
  const state = {
    ...{ rnc: issuer, account_id: ACCOUNT, account_active: true, revision: 1, previous_revision: 0, active: true },
    ...{
      name: 'Emisor de prueba',
      certificate: null,
      fingerprint: null,
      ranges: [],
      created_at: '2025-01-01T00:00:00Z',
    },
  };
  await database.query(
    'INSERT INTO taxpayers (rnc, account_id, revision, state) VALUES ($1, $2, 1, $3) ON CONFLICT DO NOTHING',
    [issuer, ACCOUNT, JSON.stringify(state)],
  );
}

export const ACCOUNT = `bench-${randomUUID()}`;

/** Adds invoices to the sums. `which` is the condition that selects them, with its values. */
export async function addSums(database: Database, which: string, values: readonly string[]): Promise<void> {
  await database.query(
    `INSERT INTO invoice_rollup SELECT env, issuer_rnc, period, day, ecf_type, status, count(*), sum(${SIGN} * total_amount),
       sum(${SIGN} * total_itbis) FROM invoice ${DAYS} WHERE ${which} GROUP BY 1, 2, 3, 4, 5, 6`,
    values,
  );
  await database.query(
    `INSERT INTO buyer_rollup SELECT env, issuer_rnc, period, grain, date_trunc(grain, day)::date, coalesce(buyer_rnc, ''), count(*),
       sum(${SIGN} * total_amount) FROM invoice ${DAYS} CROSS JOIN (VALUES ('day'), ('month')) AS grains(grain)
     WHERE ${which} AND status IN ('Aceptado', 'AceptadoCondicional') GROUP BY 1, 2, 3, 4, 5, 6`,
    values,
  );
  await database.query(
    `INSERT INTO rejection_rollup SELECT env, issuer_rnc, period, day, m->>'codigo', count(*), max(m->>'valor')
       FROM invoice ${DAYS} CROSS JOIN json_array_elements(messages) AS m WHERE ${which} GROUP BY 1, 2, 3, 4, 5`,
    values,
  );
}
