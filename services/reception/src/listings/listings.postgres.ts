import { MAX_EVENT_CONFLICTS } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { type SeekPlace, sortedWithin } from '@ecf/http';
import { camelCaseRows, type Database, queryBuilder } from '@ecf/postgres';
import type { DB } from '../generated/tables.js';
import type { ReceivedDocument, StoredBytes, UnkeptConflict } from '../receive/received-document.js';
import { CONFLICT, conflictsOf, knownSigner, NOT_AVAILABLE, RECEIVED } from '../receive/received-documents.postgres.js';
import type { ListedDocument, ListingStore, NumberSearch, Page, ReceivedCriteria, ReceivedFilter } from './ports.js';
import { sumReceived } from './received-sums.postgres.js';

/** Documents under one number that are read; more than one is ambiguous already. */
const MAX_UNDER_NUMBER = 50;

const UNKEPT = {
  name: 'received_unkept_conflicts',
  text: `SELECT c.* FROM unnest($1::bigint[]) AS d(id)
          CROSS JOIN LATERAL (SELECT ${CONFLICT} FROM refused_documents r
                               WHERE r.conflict_of = d.id AND r.xml_path IS NULL ORDER BY r.id DESC LIMIT $2) AS c
          ORDER BY c.refusal_id DESC`,
};
/** One index scan for each buyer, however many refusals one of them has. */
const REFUSED = {
  name: 'received_refused',
  text: `SELECT latest.path, latest.sha256 FROM unnest($2::text[]) AS b(rnc)
          CROSS JOIN LATERAL (SELECT arecf_path AS path, arecf_sha256 AS sha256 FROM refused_documents
                               WHERE env = $1 AND buyer_rnc = b.rnc AND encf = $3 AND issuer_rnc = $4
                               ORDER BY id DESC LIMIT 1) AS latest
          LIMIT 2`,
};
/** A document that a certification run set aside, under another environment, needs no answer. */
const UNANSWERED = {
  name: 'documents_unanswered',
  text: `SELECT env, count(*) AS count
           FROM (SELECT env FROM received_documents
                  WHERE approval_status = 'pending' AND received_at >= $1 AND received_at < $2 AND position('/' in env) = 0 LIMIT 100000) late
          GROUP BY env`,
};
const LISTED = `SELECT ${RECEIVED}, ${knownSigner('d')} AS known FROM received_documents d`;
const NUMBER = 'env = $1 AND buyer_rnc = ANY($2::text[]) AND encf = $3 AND ($4::text IS NULL OR issuer_rnc = $4)';
const FILTER = 'env = $1 AND buyer_rnc = $2';
const WITHOUT_QUERY = 'NOT EXISTS (SELECT FROM confirmations c WHERE c.document_id = d.id)';
/** The condition on the authority's status. PostgreSQL reads the index of a rare status, not all documents. */
const withStatus = (status: string) =>
  `id IN (SELECT document_id FROM confirmations WHERE env = $1 AND buyer_rnc = $2 AND status = ${status})`;

const BY_TIME = { column: 'received_at', type: 'timestamptz' } as const;
const BY_AMOUNT = { column: 'total_amount', type: 'numeric' } as const;
const UP = { order: 'ASC' } as const;
const DOWN = { order: 'DESC' } as const;
const ORDERS = {
  created_at: { ...BY_TIME, ...UP },
  '-created_at': { ...BY_TIME, ...DOWN },
  total_amount: { ...BY_AMOUNT, ...UP },
  '-total_amount': { ...BY_AMOUNT, ...DOWN },
} as const;

/** Reads received documents for listings, searches and other services. */
export function createListings(database: Database): ListingStore {
  return {
    async list(filter, page) {
      const { column, order } = ORDERS[page.sort];
      const { where, values } = filtered(filter, page);
      const value = (given: unknown) => `$${values.push(given)}`;
      const { rows } = await database.query(
        `${LISTED} WHERE ${where}
          ORDER BY ${column} ${order}, id ${order} LIMIT ${value(page.limit + 1)} OFFSET ${value(page.offset)}`,
        values,
      );
      const documents = await listed(database, rows.slice(0, page.limit));
      const last = rows.length > documents.length ? documents.at(-1) : undefined;
      const sortValue = ({ receivedAt, totalAmount }: ListedDocument) =>
        column === 'received_at' ? receivedAt.toISOString() : totalAmount;
      return { documents, last: last === undefined ? null : { value: sortValue(last), id: last.id } };
    },
    async count(filter) {
      const { where, values } = filtered(filter);
      const { rows } = await database.query<{ count: number }>(
        `SELECT count(*) AS count FROM received_documents d WHERE ${where}`,
        values,
      );
      return rows[0]?.count ?? 0;
    },
    async totals(filter) {
      const { where, values } = filtered(filter);
      const { rows } = await database.query<{ count: number; amount: string }>(
        `SELECT count(*) AS count,
                round(coalesce(sum(CASE ecf_type WHEN '34' THEN -total_amount ELSE total_amount END), 0), 2)::text AS amount
           FROM received_documents d WHERE ${where}`,
        values,
      );
      return rows[0] ?? { count: 0, amount: '0.00' };
    },
    sums: (filter, topProviders) =>
      sumReceived(database, filtered(filter), filter.issued === null ? 'created' : 'issued', topProviders),
    async byNumber(search) {
      const { rows } = await database.query(
        `${LISTED} WHERE ${NUMBER} ORDER BY received_at DESC, id DESC LIMIT ${MAX_UNDER_NUMBER}`,
        numberValues(search),
      );
      return listed(database, rows);
    },
    async latestAcknowledgements(search) {
      const received = await queryBuilder<DB>(database)
        .selectFrom('receivedDocuments')
        .select(['arecfPath as path', 'arecfSha256 as sha256'])
        .where('env', '=', search.env)
        .where(({ eb, val }) => eb('buyerRnc', '=', eb.fn.any(val([...search.buyerRncs]))))
        .where('encf', '=', search.encf)
        .where('issuerRnc', '=', search.issuerRnc)
        .limit(2)
        .execute();
      if (received.length > 0) return received;
      return (await database.query<StoredBytes>(REFUSED, numberValues(search))).rows;
    },
    async unanswered(from, until) {
      const { rows } = await database.query<{ env: Environment; count: number }>(UNANSWERED, [from, until]);
      return rows;
    },
    async page(afterId, limit) {
      const { rows } = await database.query(`${LISTED} WHERE id > $1 ORDER BY id LIMIT $2`, [afterId, limit]);
      return listed(database, rows);
    },
  };
}

function numberValues(search: NumberSearch): unknown[] {
  return [search.env, search.buyerRncs, search.encf, search.issuerRnc];
}

const ANY: ReceivedCriteria = {
  status: null,
  ecfType: null,
  providerRnc: null,
  minAmount: null,
  maxAmount: null,
  updatedSince: null,
};

/** The documents of a filter; those after the place of a page, if one is given. */
function filtered(
  filter: ReceivedFilter,
  { sort, place }: Pick<Page, 'sort' | 'place'> = { sort: '-created_at', place: null },
): { where: string; values: unknown[] } {
  const values: unknown[] = [filter.env, filter.buyerRnc];
  const conditions = [FILTER];
  if (filter.issuerRnc !== null) conditions.push(`issuer_rnc = $${values.push(filter.issuerRnc)}`);
  const { authorityStatus } = filter;
  if (authorityStatus === NOT_AVAILABLE) conditions.push(WITHOUT_QUERY);
  else if (authorityStatus !== null) conditions.push(withStatus(`$${values.push(authorityStatus)}`));
  const { status, ecfType, providerRnc, minAmount, maxAmount, updatedSince } = filter.criteria ?? ANY;
  for (const [condition, wanted, type] of [
    ['approval_status =', status, 'text'],
    ['ecf_type =', ecfType, 'text'],
    ['issuer_rnc =', providerRnc, 'text'],
    ['updated_at >=', updatedSince, 'timestamptz'],
  ] as const) {
    if (wanted !== null) conditions.push(`${condition} $${values.push(wanted)}::${type}`);
  }
  const typed = (given: unknown, type: string) => (given === null ? null : `$${values.push(given)}::${type}`);
  const { column, type, order } = ORDERS[sort];
  const seek: SeekPlace | null = place && {
    order,
    value: `${typed(place.value, type)}`,
    id: `$${values.push(place.id)}`,
  };
  const { issued } = filter;
  if (issued !== null)
    conditions.push(`date_issued BETWEEN ${typed(issued.first, 'date')} AND ${typed(issued.last, 'date')}`);
  const received = {
    least: issued === null ? typed(filter.from, 'timestamptz') : null,
    most: issued === null ? typed(filter.until, 'timestamptz') : null,
    mostIncluded: false,
  };
  const amounts = { least: typed(minAmount, 'numeric'), most: typed(maxAmount, 'numeric'), mostIncluded: true };
  conditions.push(
    ...sortedWithin('received_at', received, column === 'received_at' ? seek : null),
    ...sortedWithin('total_amount', amounts, column === 'total_amount' ? seek : null),
  );
  return { where: conditions.join(' AND '), values };
}

/** Adds the competing documents to rows of {@link LISTED}. */
async function listed(database: Database, rows: readonly object[]): Promise<ListedDocument[]> {
  const documents = camelCaseRows<ReceivedDocument & { known: boolean }>(rows);
  const ids = documents.map(({ id }) => id);
  const conflicts = await conflictsOf(database, ids);
  const totals = await conflictTotals(database, ids);
  const partly = ids.filter((id) => (totals.get(id) ?? 0) > (conflicts.get(id)?.length ?? 0));
  const unkept = await unkeptOf(database, partly);
  return documents.map((document) => ({
    ...document,
    conflicts: conflicts.get(document.id) ?? [],
    unkept: unkept.filter(({ conflictOf }) => conflictOf === document.id),
    conflictsTotal: totals.get(document.id) ?? 0,
  }));
}

async function conflictTotals(database: Database, ids: readonly number[]): Promise<Map<number | null, number>> {
  const counts = await queryBuilder<DB>(database)
    .selectFrom('refusedDocuments')
    .select(({ fn }) => ['conflictOf', fn.countAll<number>().as('count')])
    .where(({ eb, val }) => eb('conflictOf', '=', eb.fn.any(val([...ids]))))
    .groupBy('conflictOf')
    .execute();
  return new Map(counts.map(({ conflictOf, count }) => [conflictOf, count]));
}

async function unkeptOf(database: Database, ids: readonly number[]) {
  if (ids.length === 0) return [];
  const { rows } = await database.query(UNKEPT, [ids, MAX_EVENT_CONFLICTS]);
  return camelCaseRows<UnkeptConflict & { conflictOf: number }>(rows);
}
