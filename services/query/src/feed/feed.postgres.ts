import { EVENT_ID, EVENT_KEPT_MS, type PublicEvent } from '@ecf/contracts';
import { type Database, deleteExpired, type Retention } from '@ecf/postgres';
import { addDeliveries } from '../webhooks/webhooks.postgres.js';
import type { FeedStore } from './ports.js';

/** Held by a transaction that adds events to the feed. */
const FEED_LOCK = 4_310_004;
const LOCK = { name: 'feed_lock', text: 'SELECT pg_advisory_xact_lock($1)' };
/**
 * Adds events, and their deliveries to webhooks. An occurrence that is in the feed already is left out before it takes an id.
 * Events of some topics do not name the account; it is then that of the taxpayer.
 */
const ADD = {
  name: 'feed_add',
  text: `WITH e AS (INSERT INTO feed_event (occurrence, env, rnc, account_id, taxpayers, type, time, subject, data, kept_at)
    SELECT occurrence, env, rnc, coalesce(account_id, (SELECT t.account_id FROM taxpayers AS t WHERE t.rnc = added.rnc)),
           taxpayers, type, time, subject, data, $2
      FROM (SELECT r.*, row_number() OVER (PARTITION BY occurrence ORDER BY place) AS nth
              FROM json_to_recordset($1::json) AS r(place int, occurrence text, env text, rnc text, account_id text,
                taxpayers text[], type text, time timestamptz, subject json, data json)) AS added
     WHERE nth = 1 AND NOT EXISTS (SELECT FROM feed_event AS f WHERE f.occurrence = added.occurrence)
     ORDER BY place RETURNING id, env, rnc, account_id, type, subject)
    ${addDeliveries('e', '$2')}`,
};
/** The latest event stays, so that a reader always has a place to continue from. */
const EXPIRED: Retention = {
  table: 'feed_event',
  column: 'kept_at',
  orderBy: 'id',
  keptMs: EVENT_KEPT_MS,
  where: 'id < (SELECT max(id) FROM feed_event)',
};
const PLACE = {
  name: 'feed_place',
  text: `SELECT (SELECT mark FROM feed_event WHERE id = $1) AS mark, (SELECT min(id) FROM feed_event) AS oldest`,
};
const LATEST = { name: 'feed_latest', text: 'SELECT id, mark FROM feed_event ORDER BY id DESC LIMIT 1' };
type Order = 'ASC' | 'DESC';
/** Compared as rows, so that PostgreSQL reads the index of these columns, however many other events there are. */
const firstOf = (order: Order, key: Readonly<Record<string, string>>, condition = 'true') => {
  const names = ['env', ...Object.keys(key), 'id'];
  const columns = names.join(', ');
  const placeOf = (id: string) => `(${['$1', ...Object.values(key), id].join(', ')})`;
  return `(SELECT id, mark, type, time, env, subject, data FROM feed_event
     WHERE (${columns}) > ${placeOf('$3::bigint')} AND (${columns}) <= ${placeOf('$4::bigint')} AND ${condition}
     ORDER BY ${names.map((name) => `${name} ${order}`).join(', ')} LIMIT $6)`;
};
/**
 * The events of the taxpayers $2, and of the account $7 alone, for a key that is limited to the taxpayers $8; null =
 * not limited. Of the types $5; null = every type.
 */
const pageOf = (name: string, order: Order, ofTaxpayers: string) => ({
  name,
  text: `SELECT e.* FROM unnest($2::text[]) AS t(rnc) CROSS JOIN ${ofTaxpayers} AS e
    UNION ALL ${firstOf(order, { account_id: '$7::text' }, 'rnc IS NULL AND ($8::text[] IS NULL OR taxpayers <@ $8) AND ($5::text[] IS NULL OR type = ANY($5))')}
    ORDER BY id ${order} LIMIT $6`,
});
const pagesOf = (name: string, order: Order) => ({
  ofAll: pageOf(name, order, `LATERAL ${firstOf(order, { rnc: 't.rnc' })}`),
  ofTypes: pageOf(
    `${name}_of_types`,
    order,
    `unnest($5::text[]) AS w(type) CROSS JOIN LATERAL ${firstOf(order, { rnc: 't.rnc', type: 'w.type' })}`,
  ),
});
const OLDEST = pagesOf('feed_page', 'ASC');
const NEWEST = pagesOf('feed_newest', 'DESC');

export interface Place {
  id: number;
  mark: string;
}
interface Row extends Place, Pick<PublicEvent, 'type' | 'env' | 'subject' | 'data'> {
  time: Date;
}

/** The events of customers in PostgreSQL. */
export function createPostgresFeed(database: Database): FeedStore {
  async function latestPlace(): Promise<Place> {
    const latest = (await database.query<Place>(LATEST)).rows[0];
    if (latest === undefined) throw new Error('the feed has lost its beginning');
    return latest;
  }
  return {
    async append(events, now) {
      if (events.length === 0) return 0;
      const rows = events.map((event, place) => ({ ...event, place }));
      return database.transaction(async (tx) => {
        // Held until after the commit: ids are given, and become visible, one transaction after the other.
        await tx.query(LOCK, [FEED_LOCK]);
        return (await tx.query(ADD, [JSON.stringify(rows), now])).rowCount;
      });
    },
    async deleteExpired(now) {
      await deleteExpired(database, EXPIRED, now);
    },
    async placeOf(text) {
      const [, digits, mark] = EVENT_ID.exec(text) ?? [];
      if (digits === undefined) return 'unknown';
      const id = Number(digits);
      const { rows } = await database.query<{ mark: string | null; oldest: number }>(PLACE, [id]);
      if (rows[0]?.mark === mark) return id;
      return id > 0 && id < (rows[0]?.oldest ?? 0) ? 'expired' : 'unknown';
    },
    latest: async () => publicId(await latestPlace()),
    async page({ env, rncs, caller, types, after, newest, limit }) {
      // Everything up to the latest id is visible: the page is read after it.
      const latest = await latestPlace();
      const pages = newest ? NEWEST : OLDEST;
      const { rows } = await database.query<Row>(types === null ? pages.ofAll : pages.ofTypes, [
        env,
        rncs,
        after ?? 0,
        latest.id,
        types,
        limit,
        caller.accountId,
        caller.taxpayers ?? null,
      ]);
      if (newest) rows.reverse();
      const last = !newest && rows.length === limit ? rows.at(-1) : latest;
      return {
        events: rows.map(({ mark, ...row }) => ({ ...row, id: publicId({ id: row.id, mark }) })),
        next: publicId(last ?? latest),
      };
    },
  };
}

/** The id of an event as callers know it. */
export function publicId({ id, mark }: Place): string {
  return `${id}-${mark}`;
}
