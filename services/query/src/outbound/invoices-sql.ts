import type { Period } from '@ecf/contracts';
import type { Statement } from '@ecf/service-kit/postgres';
import { midnight } from './projection-sql.js';

const seenIn = (table: string, column: string) =>
  `(SELECT ${column} FROM ${table} t WHERE t.env = i.env AND t.encf = i.encf AND t.issuer_rnc = i.issuer_rnc)`;
// Sub-queries, row by row: the plan of a join would depend on outdated row counts of these tables.
export const SHOWN = `i.*, ${seenIn('delivery', 'status')} AS delivery, ${seenIn('buyer_decision', 'status')} AS decision,
  coalesce(${seenIn('buyer_decision', 'confirmed')}, false) AS confirmed`;

/** The rows of an issuer's sums by day: $1 env, $2 issuer, $3 period, $4 first and $5 last day. */
const OF_DAYS = 'FROM invoice_rollup WHERE env = $1 AND issuer_rnc = $2 AND period = $3 AND day BETWEEN $4 AND $5';

export const COUNT = {
  name: 'invoices_count',
  text: `SELECT coalesce(sum(count), 0)::bigint AS total ${OF_DAYS}`,
};

/** The day of a far offset ($6). It ends at `until`, and `before` documents are younger than that day. */
export const SKIP_DAYS = {
  name: 'invoices_skip_days',
  text: `SELECT through - count AS before, ${midnight('day + 1')} AS until FROM (
      SELECT day, count, sum(count) OVER (ORDER BY day DESC)::bigint AS through FROM (
        SELECT day, sum(count)::bigint AS count ${OF_DAYS} GROUP BY day) AS days) AS summed
    WHERE through > $6 ORDER BY day DESC LIMIT 1`,
};

/** The condition that invoice `i` belongs to the days $4 to $5 of a period. */
const IN_PERIOD: Readonly<Record<Period, string>> = {
  created: `i.created_at >= ${midnight('$4::date')} AND i.created_at < ${midnight('$5::date + 1')}`,
  issued: 'i.date_issued BETWEEN $4 AND $5',
};

/**
 * Sums of one snapshot. $6 to $8: the months and days of the buyers' sums: grain, first, last; each costs one index scan, which OFFSET
 * keeps. $9: clients. A buyer has the name in its latest document.
 */
const sums = (period: Period) => ({
  name: `invoices_sums_${period}`,
  text: `WITH sums AS (
      SELECT to_char(day, 'YYYY-MM') AS month, ecf_type, status, sum(count)::bigint AS count,
        sum(amount)::text AS amount, sum(itbis)::text AS itbis ${OF_DAYS} GROUP BY 1, 2, 3 HAVING sum(count) > 0),
    clients AS (
      SELECT r.buyer_rnc, sum(r.count) AS count, sum(r.amount) AS amount
        FROM unnest($6::text[], $7::date[], $8::date[]) AS s(grain, first, last)
        CROSS JOIN LATERAL (SELECT buyer_rnc, count, amount FROM buyer_rollup
          WHERE env = $1 AND issuer_rnc = $2 AND period = $3 AND grain = s.grain AND bucket BETWEEN s.first AND s.last OFFSET 0) AS r
       GROUP BY r.buyer_rnc HAVING sum(r.count) > 0
       ORDER BY amount DESC, nullif(r.buyer_rnc, '') NULLS LAST LIMIT $9),
    named AS (
      SELECT nullif(c.buyer_rnc, '') AS buyer_rnc, n.buyer_name, c.count, c.amount::text AS amount FROM clients c
        LEFT JOIN LATERAL (
          SELECT i.buyer_name FROM invoice i
           WHERE i.env = $1 AND i.issuer_rnc = $2 AND i.listed AND i.buyer_rnc = nullif(c.buyer_rnc, '')
             AND i.status IN ('Aceptado', 'AceptadoCondicional') AND ${IN_PERIOD[period]}
           ORDER BY i.created_at DESC, i.id DESC LIMIT 1) AS n ON true
       ORDER BY c.amount DESC, nullif(c.buyer_rnc, '') NULLS LAST)
    SELECT (SELECT coalesce(json_agg(sums), '[]') FROM sums) AS invoices,
      (SELECT coalesce(json_agg(named), '[]') FROM named) AS clients`,
});
export const SUMS = { created: sums('created'), issued: sums('issued') } as const satisfies Record<Period, Statement>;

/** $1 env, $2 issuer, $3 eNCF. */
export const FIND = {
  name: 'invoices_find',
  text: `SELECT ${SHOWN} FROM invoice i
    WHERE i.env = $1 AND i.issuer_rnc = $2 AND i.encf = $3 AND i.listed`,
};

/** $1 stored environments and $3 issuers in one order, $2 eNCF. */
export const BY_NUMBER = {
  name: 'invoices_by_number',
  text: `SELECT i.* FROM unnest($1::text[], $3::text[]) AS k(env, issuer_rnc)
    JOIN invoice i ON i.env = k.env AND i.encf = $2 AND i.issuer_rnc = k.issuer_rnc ORDER BY i.issuer_rnc`,
};

/** $1 env, $2 eNCF, $3 buyers, $4 provider or null. */
export const RECEIVED_BY_NUMBER = {
  name: 'received_by_number',
  text: `SELECT * FROM received_invoice
    WHERE env = $1 AND encf = $2 AND buyer_rnc = ANY($3::text[]) AND ($4::text IS NULL OR issuer_rnc = $4)
    ORDER BY date_received DESC, id DESC LIMIT 50`,
};
