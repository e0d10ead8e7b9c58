import type { Stretch } from '../core/sums/periods.js';
import { midnight } from './projection-sql.js';

const seenIn = (table: string, column: string) =>
  `(SELECT ${column} FROM ${table} t WHERE t.env = i.env AND t.encf = i.encf AND t.issuer_rnc = i.issuer_rnc)`;
// Sub-queries, row by row: the plan of a join would depend on outdated row counts of these tables.
export const SHOWN = `i.*, ${seenIn('delivery', 'status')} AS delivery, ${seenIn('buyer_decision', 'status')} AS decision,
  coalesce(${seenIn('buyer_decision', 'confirmed')}, false) AS confirmed`;

/**
 * Sums of an issuer ($1 env, $2 issuer) over stretches of buckets: grain, first, last. Each stretch costs one index scan.
 * OFFSET keeps the sub-query: the plan of a join would read all buckets of a large issuer.
 */
export const OVER_STRETCHES = ([grain, first, last]: readonly string[] = ['$3', '$4', '$5']) =>
  `FROM unnest(${grain}::text[], ${first}::date[], ${last}::date[]) AS s(grain, first, last)
    CROSS JOIN LATERAL (SELECT * FROM public.invoice_rollup
      WHERE env = $1 AND issuer_rnc = $2 AND grain = s.grain AND bucket BETWEEN s.first AND s.last OFFSET 0) AS r`;

/** The stretches as three lists. */
export function columns(stretches: readonly Stretch[]): [string[], string[], string[]] {
  return [stretches.map(({ grain }) => grain), stretches.map(({ first }) => first), stretches.map(({ last }) => last)];
}

export const COUNT = {
  name: 'invoices_count',
  text: `SELECT coalesce(sum(r.count), 0)::bigint AS total ${OVER_STRETCHES()}`,
};

/**
 * The day of a far offset. It ends at `until`, and `before` documents are younger than that day. $3 first and $4 last day,
 * $5 offset.
 */
export const SKIP_DAYS = {
  name: 'invoices_skip_days',
  text: `SELECT through - count AS before, ${midnight('bucket + 1')} AS until FROM (
      SELECT bucket, count, sum(count) OVER (ORDER BY bucket DESC)::bigint AS through FROM (
        SELECT bucket, sum(count)::bigint AS count FROM public.invoice_rollup
         WHERE env = $1 AND issuer_rnc = $2 AND grain = 'day' AND bucket BETWEEN $3 AND $4 GROUP BY bucket) AS days) AS summed
    WHERE through > $5 ORDER BY bucket DESC LIMIT 1`,
};

/**
 * Sums of one snapshot. $6 to $8: stretches of the buyers' running sums. $9 and $10: the steps before and through which they
 * count. $11: first day, $12: last day, $13: clients.
 */
export const SUMS = {
  name: 'invoices_sums',
  text: `WITH sums AS (
      SELECT to_char(r.bucket, 'YYYY-MM') AS month, r.ecf_type, r.status, sum(r.count)::bigint AS count,
        sum(r.amount)::text AS amount, sum(r.itbis)::text AS itbis ${OVER_STRETCHES()} GROUP BY 1, 2, 3 HAVING sum(r.count) > 0),
    clients AS (
      SELECT r.buyer_rnc, sum(r.count) AS count, sum(r.amount) AS amount
        FROM unnest($6::text[], $7::date[], $8::date[], $9::int[], $10::int[]) AS s(grain, first, last, before, through)
        CROSS JOIN LATERAL (SELECT buyer_rnc, counts[s.through] - coalesce(counts[s.before], 0) AS count,
            amounts[s.through] - coalesce(amounts[s.before], 0) AS amount FROM public.buyer_rollup
          WHERE env = $1 AND issuer_rnc = $2 AND grain = s.grain AND bucket BETWEEN s.first AND s.last OFFSET 0) AS r
       GROUP BY r.buyer_rnc HAVING sum(r.count) > 0
       ORDER BY amount DESC, nullif(r.buyer_rnc, '') NULLS LAST LIMIT $13),
    named AS (
      SELECT nullif(c.buyer_rnc, '') AS buyer_rnc, n.name AS buyer_name, c.count, c.amount::text AS amount FROM clients c
        LEFT JOIN LATERAL (
          SELECT name FROM public.buyer_name r
           WHERE r.env = $1 AND r.issuer_rnc = $2 AND r.buyer_rnc = c.buyer_rnc AND r.name_at IS NOT NULL
             AND r.day BETWEEN $11 AND $12 ORDER BY r.day DESC LIMIT 1) AS n ON true
       ORDER BY c.amount DESC, nullif(c.buyer_rnc, '') NULLS LAST)
    SELECT (SELECT coalesce(json_agg(sums), '[]') FROM sums) AS invoices,
      (SELECT coalesce(json_agg(named), '[]') FROM named) AS clients`,
};

/** $1 env, $2 issuer, $3 eNCF. */
export const FIND = {
  name: 'invoices_find',
  text: `SELECT ${SHOWN} FROM public.invoice i
    WHERE i.env = $1 AND i.issuer_rnc = $2 AND i.encf = $3 AND i.listed`,
};

/** $1 env, $2 eNCF, $3 issuers. */
export const BY_NUMBER = {
  name: 'invoices_by_number',
  text: 'SELECT * FROM public.invoice WHERE env = $1 AND encf = $2 AND issuer_rnc = ANY($3::text[]) ORDER BY issuer_rnc',
};

export const REVISIONS = {
  name: 'invoices_revisions',
  text: 'SELECT encf, revision FROM public.invoice WHERE env = $1 AND issuer_rnc = $2 AND encf = ANY($3::text[])',
};

/** $1 env, $2 eNCF, $3 buyers, $4 provider or null. */
export const RECEIVED_BY_NUMBER = {
  name: 'received_by_number',
  text: `SELECT * FROM public.received_invoice
    WHERE env = $1 AND encf = $2 AND buyer_rnc = ANY($3::text[]) AND ($4::text IS NULL OR issuer_rnc = $4)
    ORDER BY date_received DESC, id DESC LIMIT 50`,
};
