import { type PublicEvent, WEBHOOK_HOURS } from '@ecf/contracts';
import type { Database } from '@ecf/service-kit/postgres';
import type { SealingKeys } from '@ecf/service-kit/security';
import type { WebhookDeliveries, WebhookDelivery } from '../core/webhooks/webhook-ports.js';
import { type Place, publicId } from './feed.postgres.js';
import { openReceiver, type SealedReceiver } from './webhooks.postgres.js';

const HOUR_MS = 3_600_000;
/** Events that one claim takes over for a webhook, and how far it looks for them. */
const COLLECTED_AT_ONCE = 1_000;
const LOOKED_AT_ONCE = 20_000;
/** A webhook without new events of its own skips the events of others in steps of that many. */
const SKIPPED_AT_ONCE = 1_000;
/** An event of an unknown taxpayer waits at most so long for the gateway's answer, and so do the events after it. */
const UNKNOWN_TAXPAYER = '1 minute';
/** Calls to a webhook in flight at once. As many first retries may be in flight in addition, so that none waits for others. */
const AT_ONCE = 16;
/** The same for a webhook that had no success in the last minute, and for one that fails, which then pauses. */
const AT_ONCE_UNPROVEN = 4;
const PAUSE = '5 seconds';
/** Rows that a claim looks at for each that it takes, because other instances may hold some. */
const LOOKED_AT_FOR_EACH = 4;
/** After a success, a pause whose rest is at most so many times as long as the webhook had failed is over. */
const FORWARD = 4;

/**
 * The last event before the first one whose taxpayer is not known yet, and that taxpayer. $1 now, $2 the answer before,
 * null = none, $3 taxpayers without owner. Without an answer before, the search begins near the end, because the feed is too
 * long to be read: at the latest event that is twice as old as the search needs, because the clocks of instances differ. The
 * oldest row is skipped: in a new installation it marks the beginning of the feed and names no taxpayer.
 * An event that a wrong clock kept in the future does not wait.
 */
const HORIZON = {
  name: 'webhook_horizon',
  text: `WITH unknown AS (SELECT e.id, e.rnc FROM feed_event AS e
      WHERE e.id > coalesce($2, (SELECT max(id) FROM feed_event WHERE kept_at < $1::timestamptz - 2 * interval '${UNKNOWN_TAXPAYER}'),
          (SELECT min(id) FROM feed_event)) AND e.kept_at > $1::timestamptz - interval '${UNKNOWN_TAXPAYER}'
        AND e.kept_at <= $1::timestamptz + interval '${UNKNOWN_TAXPAYER}' AND e.rnc IS NOT NULL AND e.rnc <> ALL($3::text[]) AND NOT EXISTS (SELECT FROM taxpayers AS t WHERE t.rnc = e.rnc) ORDER BY e.id LIMIT 1)
    SELECT coalesce((SELECT id - 1 FROM unknown), (SELECT max(id) FROM feed_event), 0) AS id, (SELECT rnc FROM unknown) AS rnc`,
};
/**
 * Takes over the new events of each active webhook up to the horizon; everything before it is visible. An event whose subject
 * waits for another try waits with it. $1 now, $2 when it is given up, $3 horizon.
 */
const COLLECT = {
  name: 'webhook_collect',
  text: `WITH behind AS (SELECT w.id, w.account_id, w.types, w.environments, w.collected,
        least($3::bigint, w.collected + ${LOOKED_AT_ONCE}) AS last
      FROM webhook AS w WHERE w.active AND w.collected < $3 FOR UPDATE SKIP LOCKED),
    page AS (SELECT b.id AS webhook_id, e.id, e.subject FROM behind AS b CROSS JOIN LATERAL (
      SELECT e.id, concat_ws(':', e.env, coalesce(e.rnc, e.subject->>'issuer_rnc'), e.subject->>'provider_rnc', e.subject->>'encf') AS subject
        FROM feed_event AS e LEFT JOIN taxpayers AS t ON t.rnc = e.rnc
       WHERE b.account_id IN (t.account_id, e.account_id) AND e.id > b.collected AND e.id <= b.last
         AND e.env = ANY(b.environments) AND (b.types IS NULL OR e.type = ANY(b.types))
       ORDER BY e.id LIMIT ${COLLECTED_AT_ONCE}) AS e),
    added AS (INSERT INTO webhook_delivery (webhook_id, event_id, subject, due_at, give_up_at)
      SELECT p.webhook_id, p.id, p.subject, greatest($1::timestamptz, (SELECT max(d.due_at) FROM webhook_delivery AS d
               WHERE d.webhook_id = p.webhook_id AND d.subject = p.subject)), $2::timestamptz
        FROM page AS p ON CONFLICT (webhook_id, event_id) DO NOTHING),
    reached AS (SELECT b.id, b.collected, CASE WHEN count(p.id) = ${COLLECTED_AT_ONCE} THEN max(p.id) ELSE b.last END AS place,
               count(p.id) AS events
        FROM behind AS b LEFT JOIN page AS p ON p.webhook_id = b.id GROUP BY b.id, b.collected, b.last)
    UPDATE webhook AS w SET collected = r.place FROM reached AS r
     WHERE w.id = r.id AND (r.events > 0 OR r.place > r.collected + ${SKIPPED_AT_ONCE}) RETURNING r.events`,
};

const dueOf = (
  which: string,
  free: string,
) => `(SELECT d.webhook_id, d.event_id, d.due_at, d.tries FROM webhook_delivery AS d
       WHERE d.webhook_id = room.id AND ${which} AND d.due_at <= $1 AND (d.leased_until IS NULL OR d.leased_until <= $1)
         AND NOT EXISTS (SELECT FROM webhook_delivery AS earlier WHERE earlier.webhook_id = d.webhook_id
           AND earlier.subject = d.subject AND earlier.event_id < d.event_id)
       ORDER BY d.due_at, d.event_id LIMIT greatest(${free}, 0))`;
/**
 * $1 now, $2 end of the lease, $3 most rows, $4 the bulkhead. The oldest waiting event of a subject goes first, alone. The claim
 * skips webhooks that others lock, because those may wait for rows that are locked here.
 */
const CLAIM = {
  name: 'webhook_claim',
  text: `WITH open AS (SELECT webhook_id AS id, count(*) FILTER (WHERE tries = 1) AS retries, count(*) FILTER (WHERE tries <> 1) AS others
        FROM webhook_delivery WHERE leased_until IS NOT NULL AND leased_until > $1 GROUP BY webhook_id),
    room AS (SELECT w.id, CASE WHEN $4 = 'failing' THEN 0 ELSE ${AT_ONCE} END - coalesce(o.retries, 0) AS retries,
        CASE WHEN $4 = 'first_retry' OR $4 = 'failing' AND w.paused_until > $1 THEN 0
             WHEN $4 = 'working' AND w.last_success_at > $1::timestamptz - interval '1 minute' THEN ${AT_ONCE}
             ELSE ${AT_ONCE_UNPROVEN} END - coalesce(o.others, 0) AS others
      FROM webhook AS w LEFT JOIN open AS o ON o.id = w.id WHERE w.active AND (w.failing_since IS NULL) = ($4 = 'working')),
    due AS (SELECT d.webhook_id, d.event_id, d.tries = 1 AS retry, d.due_at FROM room CROSS JOIN LATERAL (
        ${dueOf('d.tries = 1', 'room.retries')} UNION ALL ${dueOf('d.tries <> 1', 'room.others')}) AS d
      ORDER BY retry DESC, d.due_at LIMIT ${LOOKED_AT_FOR_EACH} * $3),
    free AS (SELECT d.webhook_id, d.event_id FROM due JOIN webhook_delivery AS d ON d.webhook_id = due.webhook_id AND d.event_id = due.event_id
      WHERE d.due_at <= $1 AND (d.leased_until IS NULL OR d.leased_until <= $1)
      ORDER BY due.retry DESC, due.due_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED),
    leased AS (UPDATE webhook_delivery AS d SET leased_until = $2 FROM free
      WHERE d.webhook_id = free.webhook_id AND d.event_id = free.event_id
      RETURNING d.webhook_id, d.event_id, d.tries, d.give_up_at),
    paused AS (UPDATE webhook SET paused_until = $1::timestamptz + interval '${PAUSE}' WHERE id IN (SELECT w.id FROM webhook AS w
      WHERE $4 = 'failing' AND w.id IN (SELECT webhook_id FROM leased) FOR UPDATE SKIP LOCKED))
    SELECT l.event_id, l.tries, l.give_up_at, w.id, w.account_id, w.url, w.secret, w.former_secret, w.former_until,
           e.mark, e.type, e.time, e.env, e.subject, e.data
      FROM leased AS l JOIN webhook AS w ON w.id = l.webhook_id LEFT JOIN feed_event AS e ON e.id = l.event_id
     ORDER BY l.event_id`,
};

/**
 * The first success after failures also ends the pauses of other events. An event that a replay has put back during the call is
 * not leased: it stays.
 */
const DELIVERED = {
  name: 'webhook_delivered',
  text: `WITH gone AS (DELETE FROM webhook_delivery WHERE webhook_id = $1 AND event_id = $2 AND leased_until IS NOT NULL),
    forward AS (SELECT d.webhook_id, d.event_id FROM webhook AS w JOIN webhook_delivery AS d ON d.webhook_id = w.id
      WHERE w.id = $1 AND w.failing_since IS NOT NULL AND d.event_id <> $2 AND d.due_at > $3::timestamptz
        AND d.due_at <= $3::timestamptz + ${FORWARD} * ($3::timestamptz - w.failing_since) FOR UPDATE OF d SKIP LOCKED),
    due AS (UPDATE webhook_delivery AS d SET due_at = $3 FROM forward AS f
      WHERE d.webhook_id = f.webhook_id AND d.event_id = f.event_id)
    UPDATE webhook SET last_success_at = $3::timestamptz, failing_since = NULL
     WHERE id = $1 AND (last_success_at IS NULL OR failing_since IS NOT NULL OR last_success_at < $3::timestamptz - interval '1 second')`,
};
const FAILED = {
  name: 'webhook_failed',
  text: `WITH counted AS (UPDATE webhook SET failing_since = $4 WHERE id = $1 AND failing_since IS NULL),
    subject AS (SELECT subject FROM webhook_delivery WHERE webhook_id = $1 AND event_id = $2)
    UPDATE webhook_delivery AS d SET due_at = $3, leased_until = NULL,
           tries = d.tries + CASE WHEN d.event_id = $2 THEN 1 ELSE 0 END
      FROM subject AS s WHERE d.webhook_id = $1 AND d.subject = s.subject AND d.event_id >= $2`,
};
const GIVE_UP = {
  name: 'webhook_give_up',
  text: `WITH gone AS (DELETE FROM webhook_delivery AS d WHERE webhook_id = $1
      AND (give_up_at <= $2 OR NOT EXISTS (SELECT FROM feed_event AS e WHERE e.id = d.event_id)) RETURNING event_id),
    counted AS (UPDATE webhook SET dropped = dropped + (SELECT count(*) FROM gone) WHERE id = $1)
    SELECT count(*) AS n FROM gone`,
};
/** A webhook whose last event was given up has failed since, but nothing of it waits for a person. */
const WAITING = {
  name: 'webhook_waiting',
  text: `SELECT (SELECT count(*) FROM webhook_delivery) AS events, count(*) AS failing,
           coalesce(extract(epoch FROM $1::timestamptz - min(failing_since)), 0)::float8 AS seconds
      FROM webhook AS w WHERE active AND failing_since IS NOT NULL AND EXISTS (SELECT FROM webhook_delivery AS d WHERE d.webhook_id = w.id)`,
};

interface Claimed extends SealedReceiver, Pick<PublicEvent, 'type' | 'env' | 'subject' | 'data'> {
  event_id: number;
  tries: number;
  give_up_at: Date;
  mark: Place['mark'] | null;
  time: Date;
}

/** Deliveries in PostgreSQL. */
export function createWebhookDeliveries(database: Database, sealingKeys: SealingKeys): WebhookDeliveries {
  let horizon = null as number | null;
  function claimed(row: Claimed, now: Date): WebhookDelivery {
    const { event_id, mark, tries, give_up_at, type, time, env, subject, data } = row;
    const event = mark === null ? null : { id: publicId({ id: event_id, mark }), type, time, env, subject, data };
    const receiver = openReceiver(sealingKeys, row, now);
    return { ...receiver, webhookId: row.id, eventId: event_id, event, tries, giveUpAt: give_up_at };
  }
  return {
    async collect(now, withoutOwner) {
      const { rows } = await database.query<{ id: number; rnc: string | null }>(HORIZON, [now, horizon, withoutOwner]);
      horizon = rows[0]?.id ?? horizon;
      const giveUpAt = new Date(now.getTime() + WEBHOOK_HOURS * HOUR_MS);
      const reached = await database.query<{ events: number }>(COLLECT, [now, giveUpAt, horizon]);
      return { unknown: rows[0]?.rnc ?? null, skipped: reached.rows.some(({ events }) => events === 0) };
    },
    async claimDue({ now, until, limit }, bulkhead) {
      const { rows } = await database.query<Claimed>(CLAIM, [now, until, limit, bulkhead]);
      return rows.map((row) => claimed(row, now));
    },
    async delivered({ webhookId, eventId }, now) {
      await database.query(DELIVERED, [webhookId, eventId, now]);
    },
    async failed({ webhookId, eventId }, dueAt, now) {
      await database.query(FAILED, [webhookId, eventId, dueAt, now]);
    },
    async giveUp({ webhookId }, now) {
      const { rows } = await database.query<{ n: number }>(GIVE_UP, [webhookId, now]);
      return rows[0]?.n ?? 0;
    },
    async deactivate(id) {
      await database.transaction(async (tx) => {
        await tx.query('UPDATE webhook SET active = false WHERE id = $1', [id]);
        await tx.query('DELETE FROM webhook_delivery WHERE webhook_id = $1', [id]);
      });
    },
    async waiting(now) {
      const { rows } = await database.query<{ events: number; failing: number; seconds: number }>(WAITING, [now]);
      const { events = 0, failing = 0, seconds = 0 } = rows[0] ?? {};
      return { events, failing, failingSeconds: seconds };
    },
  };
}
