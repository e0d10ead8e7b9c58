import type { Statement } from '@ecf/service-kit/postgres';

const INVOICE = `env text, encf text, issuer_rnc text, id bigint, revision int, listed boolean, settled boolean, ecf_type text,
  route text, status text, code text, messages json, sequence_used boolean, track_id text, buyer_rnc text, buyer_name text,
  date_issued date, created_at timestamptz, signed_at timestamptz, total_amount numeric, total_itbis numeric, modified_encf text,
  reference text, submitted_by text, request_id text,
  security_code text, qr_url text, xml_path text, xml_checksum text, rfce_path text, rfce_checksum text, attempts json`;
const RECEIVED = `env text, encf text, issuer_rnc text, buyer_rnc text, id bigint, revision int, date_received timestamptz,
  xml_path text, xml_checksum text, conflicts json`;

const names = (columns: string) => columns.split(',').map((column) => column.trim().split(' ')[0] as string);
const replaced = (columns: readonly string[]) => columns.map((name) => `${name} = excluded.${name}`).join(', ');
const kept = (columns: string, key: readonly string[]) =>
  replaced(names(columns).filter((name) => !key.includes(name)));

/** The first instant of a Dominican day: UTC-4 all year. */
export const midnight = (day: string) => `(((${day})::timestamp + interval '4 hours') AT TIME ZONE 'UTC')`;

/**
 * Notes when documents changed. A rebuild brings no change of its own, because it finds their revisions here. Each statement
 * locks the rows in the same order.
 */
export const KEEP_CHANGES: Statement = {
  name: 'invoice_change_keep',
  text: `INSERT INTO invoice_change AS present (env, encf, issuer_rnc, revision, updated_at)
    SELECT env, encf, issuer_rnc, revision, clock_timestamp()
      FROM json_to_recordset($1::json) AS r(env text, encf text, issuer_rnc text, revision int) ORDER BY env, encf, issuer_rnc
    ON CONFLICT (env, encf, issuer_rnc) DO UPDATE SET revision = excluded.revision, updated_at = excluded.updated_at
      WHERE present.revision < excluded.revision`,
};

/** Stored values of documents that the sums contain: $1 env, $2 issuer, $3 eNCF. */
export const PRESENT: Statement = {
  name: 'invoice_present',
  text: `SELECT i.env, i.issuer_rnc, i.encf, i.revision, i.listed, i.ecf_type, i.status, i.buyer_rnc, i.date_issued,
      i.created_at, i.total_amount, i.total_itbis
    FROM unnest($1::text[], $2::text[], $3::text[]) AS k(env, issuer_rnc, encf)
    JOIN invoice i ON i.env = k.env AND i.encf = k.encf AND i.issuer_rnc = k.issuer_rnc`,
};

export const KEEP_INVOICES: Statement = {
  name: 'invoice_keep',
  text: `INSERT INTO invoice (${names(INVOICE).join(', ')})
    SELECT * FROM json_to_recordset($1::json) AS r(${INVOICE})
    ON CONFLICT (env, encf, issuer_rnc) DO UPDATE SET ${kept(INVOICE, ['env', 'encf', 'issuer_rnc'])}`,
};

export const ADD_INVOICE_SUMS: Statement = {
  name: 'invoice_rollup_add',
  text: `INSERT INTO invoice_rollup AS present
      (env, issuer_rnc, period, day, ecf_type, status, count, amount, itbis)
    SELECT * FROM json_to_recordset($1::json) AS r(env text, issuer_rnc text, period text, day date, ecf_type text,
      status text, count bigint, amount numeric, itbis numeric)
    ON CONFLICT (env, issuer_rnc, period, day, ecf_type, status) DO UPDATE SET count = present.count + excluded.count,
      amount = present.amount + excluded.amount, itbis = present.itbis + excluded.itbis`,
};

export const ADD_BUYER_SUMS: Statement = {
  name: 'buyer_rollup_add',
  text: `INSERT INTO buyer_rollup AS present (env, issuer_rnc, period, grain, bucket, buyer_rnc, count, amount)
    SELECT * FROM json_to_recordset($1::json) AS r(env text, issuer_rnc text, period text, grain text, bucket date,
      buyer_rnc text, count bigint, amount numeric)
    ON CONFLICT (env, issuer_rnc, period, grain, bucket, buyer_rnc) DO UPDATE SET count = present.count + excluded.count,
      amount = present.amount + excluded.amount`,
};

export const KEEP_RECEIVED: Statement = {
  name: 'received_keep',
  text: `INSERT INTO received_invoice AS present (${names(RECEIVED).join(', ')})
    SELECT * FROM json_to_recordset($1::json) AS r(${RECEIVED})
    ON CONFLICT (env, encf, issuer_rnc, buyer_rnc) DO UPDATE
      SET ${kept(RECEIVED, ['env', 'encf', 'issuer_rnc', 'buyer_rnc'])}
      -- After a certification run, another document may have the number, with revisions of its own.
      WHERE (present.id, present.revision) < (excluded.id, excluded.revision)`,
};
