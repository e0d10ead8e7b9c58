import type { PublicEvent } from '@ecf/contracts';
import type { SealingKeys } from '@ecf/kit';
import { camelCaseRows, type Database } from '@ecf/postgres';
import type { Selectable } from 'kysely';
import { type Place, publicId } from '../feed/feed.postgres.js';
import type { WebhookDelivery as WebhookDeliveryRow } from '../generated/tables.js';
import type { WebhookDeliveries, WebhookDelivery } from './ports.js';
import { openReceiver, type SealedReceiver } from './webhooks.postgres.js';

/**
 * Calls of a webhook that may be in flight, and of one that had no success in the last minute. As many first retries as CALLS
 * may be in flight in addition, so that each begins in time, whatever else waits.
 */
const CALLS = 16;
const CALLS_UNPROVEN = 4;
/** A claim reads more rows than it takes, because other instances may lease some of them at the same time. */
const READ_FOR_EACH = 4;
/** After the first success, events are due immediately unless their pause is this many times as long as the failure lasted. */
const FORWARD = 4;

const due = (
  which: string,
  most: string,
) => `(SELECT d.webhook_id, d.event_id, d.tries, d.due_at FROM webhook_delivery AS d
       WHERE d.webhook_id = open.id AND ${which} AND d.due_at <= $1 AND (d.leased_until IS NULL OR d.leased_until <= $1)
         AND NOT EXISTS (SELECT FROM webhook_delivery AS earlier WHERE earlier.webhook_id = d.webhook_id
           AND earlier.subject = d.subject AND earlier.event_id < d.event_id)
       ORDER BY d.due_at, d.event_id LIMIT greatest(${most}, 0))`;
/** $1 now, $2 end of the lease, $3 most rows. The oldest waiting event of a subject goes first, alone. */
const CLAIM = {
  name: 'webhook_claim',
  text: `WITH busy AS (SELECT webhook_id AS id, count(*) FILTER (WHERE tries = 1) AS retries, count(*) FILTER (WHERE tries <> 1) AS others
        FROM webhook_delivery WHERE leased_until > $1 GROUP BY webhook_id),
    open AS (SELECT w.id, ${CALLS} - coalesce(b.retries, 0) AS retries,
        CASE WHEN w.last_success_at > $1::timestamptz - interval '1 minute' THEN ${CALLS} ELSE ${CALLS_UNPROVEN} END
          - coalesce(b.others, 0) AS others
      FROM webhook AS w LEFT JOIN busy AS b ON b.id = w.id
     WHERE w.active AND (w.paused_until IS NULL OR w.paused_until <= $1)),
    due AS (SELECT d.webhook_id, d.event_id, d.tries = 1 AS retry, d.due_at FROM open CROSS JOIN LATERAL (
        ${due('d.tries = 1', 'open.retries')} UNION ALL ${due('d.tries <> 1', 'open.others')}) AS d
      ORDER BY retry DESC, d.due_at LIMIT ${READ_FOR_EACH} * $3),
    free AS (SELECT d.webhook_id, d.event_id FROM due JOIN webhook_delivery AS d USING (webhook_id, event_id)
      WHERE d.due_at <= $1 AND (d.leased_until IS NULL OR d.leased_until <= $1)
      ORDER BY due.retry DESC, due.due_at LIMIT $3 FOR UPDATE OF d SKIP LOCKED),
    leased AS (UPDATE webhook_delivery AS d SET leased_until = $2 FROM free
      WHERE d.webhook_id = free.webhook_id AND d.event_id = free.event_id
      RETURNING d.webhook_id, d.event_id, d.tries, d.give_up_at)
    SELECT l.event_id, l.tries, l.give_up_at, w.id, w.account_id, w.url, w.secret, w.former_secret, w.former_until,
           e.mark, e.type, e.time, e.env, e.subject, e.data
      FROM leased AS l JOIN webhook AS w ON w.id = l.webhook_id LEFT JOIN feed_event AS e ON e.id = l.event_id
     ORDER BY l.event_id`,
};

/** $1 webhook, $2 event, $3 now. An event that a replay has put back during the call is not leased, and stays. */
const DELIVERED = {
  name: 'webhook_delivered',
  text: `WITH gone AS (DELETE FROM webhook_delivery WHERE webhook_id = $1 AND event_id = $2 AND leased_until IS NOT NULL),
    forward AS (SELECT d.webhook_id, d.event_id FROM webhook AS w JOIN webhook_delivery AS d ON d.webhook_id = w.id
      WHERE w.id = $1 AND w.failing_since IS NOT NULL AND d.event_id <> $2 AND d.due_at > $3::timestamptz
        AND d.due_at <= $3::timestamptz + ${FORWARD} * ($3::timestamptz - w.failing_since) FOR UPDATE OF d SKIP LOCKED),
    due AS (UPDATE webhook_delivery AS d SET due_at = $3 FROM forward AS f
      WHERE d.webhook_id = f.webhook_id AND d.event_id = f.event_id)
    UPDATE webhook SET last_success_at = $3::timestamptz, failing_since = NULL, paused_until = NULL
     WHERE id = $1 AND (last_success_at IS NULL OR failing_since IS NOT NULL OR last_success_at < $3::timestamptz - interval '1 second')`,
};
/** $1 webhook, $2 event, $3 when the event is due again, $4 now, $5 when the webhook is called again. */
const FAILED = {
  name: 'webhook_failed',
  text: `WITH failing AS (UPDATE webhook SET failing_since = coalesce(failing_since, $4),
        paused_until = CASE WHEN paused_until > $4 THEN paused_until ELSE $5 END WHERE id = $1)
    UPDATE webhook_delivery SET due_at = $3, leased_until = NULL, tries = tries + 1 WHERE webhook_id = $1 AND event_id = $2`,
};
const GIVE_UP = {
  name: 'webhook_give_up',
  text: `WITH gone AS (DELETE FROM webhook_delivery AS d WHERE webhook_id = $1
      AND (give_up_at <= $2 OR NOT EXISTS (SELECT FROM feed_event AS e WHERE e.id = d.event_id)) RETURNING event_id),
    counted AS (UPDATE webhook SET dropped = dropped + (SELECT count(*) FROM gone) WHERE id = $1)
    SELECT count(*) AS n FROM gone`,
};
/** A webhook whose last event was given up is still failing, but needs no attention while no event waits for it. */
const WAITING = {
  name: 'webhook_waiting',
  text: `SELECT (SELECT count(*) FROM webhook_delivery) AS events, count(*) AS failing,
           coalesce(extract(epoch FROM $1::timestamptz - min(failing_since)), 0)::float8 AS seconds
      FROM webhook AS w WHERE active AND failing_since IS NOT NULL AND EXISTS (SELECT FROM webhook_delivery AS d WHERE d.webhook_id = w.id)`,
};

interface Claimed
  extends SealedReceiver,
    Pick<Selectable<WebhookDeliveryRow>, 'eventId' | 'tries' | 'giveUpAt'>,
    Pick<PublicEvent, 'type' | 'env' | 'subject' | 'data'> {
  mark: Place['mark'] | null;
  time: Date;
}

/** Deliveries in PostgreSQL. */
export function createWebhookDeliveries(database: Database, sealingKeys: SealingKeys): WebhookDeliveries {
  function claimed(row: Claimed, now: Date): WebhookDelivery {
    const { id: webhookId, eventId, mark, tries, giveUpAt, type, time, env, subject, data } = row;
    const event = mark === null ? null : { id: publicId({ id: eventId, mark }), type, time, env, subject, data };
    return { ...openReceiver(sealingKeys, row, now), webhookId, eventId, event, tries, giveUpAt };
  }
  return {
    async claimDue({ now, until, limit }) {
      const { rows } = await database.query(CLAIM, [now, until, limit]);
      return camelCaseRows<Claimed>(rows).map((row) => claimed(row, now));
    },
    async delivered({ webhookId, eventId }, now) {
      await database.query(DELIVERED, [webhookId, eventId, now]);
    },
    async failed({ webhookId, eventId }, dueAt, now, pausedUntil) {
      await database.query(FAILED, [webhookId, eventId, dueAt, now, pausedUntil]);
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
