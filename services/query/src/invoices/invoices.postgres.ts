import type { Period } from '@ecf/contracts';
import { columnOf } from '@ecf/http';
import { anyOf, camelCaseRows, type Database, queryBuilder } from '@ecf/postgres';
import type { DB } from '../generated/tables.js';
import type { Sums } from './aggregate.js';
import type { IssuedInvoice } from './issued-invoice.js';
import { listQuery, SHOWN } from './list-sql.postgres.js';
import { monthsAndDays } from './periods.js';
import type { InvoiceFilter, InvoiceStore, Page, Place, ReceivedStore, ShownInvoice } from './ports.js';
import { midnight } from './projection.postgres.js';

/** The rows of an issuer's sums by day: $1 env, $2 issuer, $3 period, $4 first and $5 last day. */
const IN_DAYS = 'env = $1 AND issuer_rnc = $2 AND period = $3 AND day BETWEEN $4 AND $5';
const OF_DAYS = `FROM invoice_rollup WHERE ${IN_DAYS}`;
const COUNT = { name: 'invoices_count', text: `SELECT coalesce(sum(count), 0)::bigint AS total ${OF_DAYS}` };

/** Codes of an aggregate. */
const MOST_CODES = 50;

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
       ORDER BY c.amount DESC, nullif(c.buyer_rnc, '') NULLS LAST),
    days AS (SELECT day, status, sum(count)::bigint AS count ${OF_DAYS} GROUP BY 1, 2 HAVING sum(count) > 0 ORDER BY 1, 2),
    hours AS (
      SELECT extract(hour FROM i.created_at AT TIME ZONE 'UTC' - interval '4 hours')::int AS hour, count(*) AS count FROM invoice i
       WHERE $4::date = $5::date AND i.env = $1 AND i.issuer_rnc = $2 AND i.listed AND ${IN_PERIOD[period]}
       GROUP BY 1 ORDER BY 1),
    codes AS (
      SELECT code, sum(count)::bigint AS count, (array_agg(message ORDER BY day DESC))[1] AS message
        FROM rejection_rollup WHERE ${IN_DAYS} AND count > 0 GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT ${MOST_CODES})
    SELECT (SELECT coalesce(json_agg(sums), '[]') FROM sums) AS invoices,
      (SELECT coalesce(json_agg(named), '[]') FROM named) AS clients,
      (SELECT coalesce(json_agg(days), '[]') FROM days) AS days,
      (SELECT coalesce(json_agg(hours), '[]') FROM hours) AS hours,
      (SELECT coalesce(json_agg(codes), '[]') FROM codes) AS codes`,
});
const SUMS = { created: sums('created'), issued: sums('issued') };

/** $1 env, $2 issuer, $3 eNCF. */
const FIND = {
  name: 'invoices_find',
  text: `SELECT ${SHOWN} FROM invoice i WHERE i.env = $1 AND i.issuer_rnc = $2 AND i.encf = $3 AND i.listed`,
};

/** $1 stored environments and $3 issuers in one order, $2 eNCF. */
const BY_NUMBER = {
  name: 'invoices_by_number',
  text: `SELECT i.* FROM unnest($1::text[], $3::text[]) AS k(env, issuer_rnc)
    JOIN invoice i ON i.env = k.env AND i.encf = $2 AND i.issuer_rnc = k.issuer_rnc ORDER BY i.issuer_rnc`,
};

/** The read models of issued documents in PostgreSQL. A row has the texts that the projection wrote. */
export function createPostgresInvoices(database: Database): InvoiceStore {
  return {
    async list(filter, page) {
      // A page beyond the end has only the total.
      const { statement, values } = listQuery(filter, page);
      const rows = camelCaseRows<ShownInvoice & { total: number }>((await database.query(statement, values)).rows);
      const total = rows[0]?.total ?? 0;
      const found = rows.filter((row) => row.encf !== null);
      const invoices = found.slice(0, page.limit);
      const last = found.length > invoices.length ? invoices.at(-1) : undefined;
      return { total, invoices, next: last === undefined ? null : placeOf(last, page, total) };
    },
    async count(filter) {
      const { rows } = await database.query<{ total: number }>(COUNT, ofDays(filter));
      return rows[0]?.total ?? 0;
    },
    async sums(filter, topClients) {
      const buckets = monthsAndDays(filter.first, filter.last);
      const { rows } = await database.query<Sums>(SUMS[filter.period], [
        ...ofDays(filter),
        buckets.map(({ grain }) => grain),
        buckets.map(({ first }) => first),
        buckets.map(({ last }) => last),
        topClients,
      ]);
      return rows[0] as Sums;
    },
    async find({ env, issuerRnc, encf }) {
      const { rows } = await database.query(FIND, [env, issuerRnc, encf]);
      return camelCaseRows<ShownInvoice>(rows)[0] ?? null;
    },
    async byNumber(issuers, encf) {
      const { rows } = await database.query(BY_NUMBER, [
        issuers.map(({ env }) => env),
        encf,
        issuers.map(({ issuerRnc }) => issuerRnc),
      ]);
      return camelCaseRows<IssuedInvoice>(rows);
    },
  };
}

/** The read models of received documents in PostgreSQL. */
export function createPostgresReceived(database: Database): ReceivedStore {
  const builder = queryBuilder<DB>(database);
  return {
    byNumber({ env, buyerRncs, issuerRnc, encf }) {
      return builder
        .selectFrom('receivedInvoice')
        .selectAll()
        .where('env', '=', env)
        .where('encf', '=', encf)
        .where('buyerRnc', '=', anyOf(buyerRncs))
        .$if(issuerRnc !== null, (query) => query.where('issuerRnc', '=', issuerRnc as string))
        .orderBy('dateReceived', 'desc')
        .orderBy('id', 'desc')
        .limit(50)
        .execute();
    },
  };
}

function ofDays({ env, issuerRnc, period, first, last }: InvoiceFilter): unknown[] {
  return [env, issuerRnc, period, first, last];
}

function placeOf(invoice: ShownInvoice, { sort }: Page, total: number): Place {
  const value = columnOf(sort) === 'created_at' ? invoice.createdAt.toISOString() : invoice.totalAmount;
  return { value, id: invoice.id, total };
}
