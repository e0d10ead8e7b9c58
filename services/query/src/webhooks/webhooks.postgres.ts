import { WEBHOOK_HOURS } from '@ecf/contracts';
import type { SealBinding, SealingKeys } from '@ecf/kit';
import { camelCaseRows, type Database, queryBuilder, type SealedValues, sealedRows } from '@ecf/postgres';
import type { Selectable } from 'kysely';
import type { DB, Webhook as WebhookRow } from '../generated/tables.js';
import type { NewWebhook, Receiver, Webhook, WebhookStore } from './ports.js';

const COLUMNS = `w.id, w.account_id, w.url, w.types, w.environments, w.active, w.created_at, w.last_success_at, w.failing_since, w.dropped,
  (SELECT count(*) FROM webhook_delivery AS d WHERE d.webhook_id = w.id) AS pending`;

/**
 * Adds the deliveries of feed events `e` (id, env, rnc, account_id, type, subject) to the active webhooks `w` that want them.
 *
 * @param now parameter with the present time
 */
export const addDeliveries = (events: string, now: string) =>
  `INSERT INTO webhook_delivery (webhook_id, event_id, subject, due_at, give_up_at)
    SELECT w.id, e.id, concat_ws(':', e.env, coalesce(e.rnc, e.subject->>'issuer_rnc'), e.subject->>'provider_rnc', e.subject->>'encf'),
        ${now}::timestamptz, ${now}::timestamptz + interval '${WEBHOOK_HOURS} hours'
      FROM ${events} JOIN webhook AS w ON w.account_id = e.account_id
        AND w.active AND e.env = ANY(w.environments) AND (w.types IS NULL OR e.type = ANY(w.types))`;

/** $1 now, $2 webhook, $3 place in the feed. Events that wait begin anew with the others, so that each subject keeps its order. */
const REPLAY = {
  name: 'webhook_replay',
  text: `${addDeliveries('feed_event AS e', '$1')} AND w.id = $2
     WHERE e.id > $3 ORDER BY e.id
    ON CONFLICT (webhook_id, event_id) DO UPDATE
      SET tries = 0, due_at = excluded.due_at, give_up_at = excluded.give_up_at, leased_until = NULL`,
};

/** A webhook's address and its secrets as they are stored. */
export type SealedReceiver = Pick<
  Selectable<WebhookRow>,
  'id' | 'accountId' | 'url' | 'secret' | 'formerSecret' | 'formerUntil'
>;

const binding = (account: string, id: string): SealBinding => ({ purpose: 'webhook secret', account, subject: id });

/** Opens the secrets of a webhook that sign at `now`. One that no key of this instance opens is left out. */
export function openReceiver(sealingKeys: SealingKeys, row: SealedReceiver, now: Date): Receiver {
  const { formerSecret, formerUntil } = row;
  const isFormerValid = formerSecret !== null && formerUntil !== null && formerUntil > now;
  const sealed = isFormerValid ? [row.secret, formerSecret] : [row.secret];
  const open = (secret: Buffer) => sealingKeys.unseal(secret, binding(row.accountId, row.id)).toString('utf8');
  return { url: row.url, secrets: sealed.filter((secret) => sealingKeys.hasKeyOf(secret)).map(open) };
}

/** Webhooks in PostgreSQL. */
export function createPostgresWebhooks(database: Database, sealingKeys: SealingKeys): WebhookStore {
  const db = queryBuilder<DB>(database);
  const seal = ({ accountId, id, secret }: Pick<NewWebhook, 'accountId' | 'id' | 'secret'>) =>
    sealingKeys.seal(Buffer.from(secret, 'utf8'), binding(accountId, id));
  return {
    async create(webhook, most, now) {
      const { id, accountId, url, types, environments } = webhook;
      const { rowCount } = await database.query(
        `INSERT INTO webhook (id, account_id, url, types, environments, secret, created_at)
         SELECT $1, $2, $3, $4, $5, $6, $7 WHERE (SELECT count(*) FROM webhook WHERE account_id = $2) < $8`,
        [id, accountId, url, types, environments, seal(webhook), now, most],
      );
      return rowCount > 0;
    },
    async list(accountId, { limit, offset, environments }) {
      const { rows } = await database.query(
        `SELECT ${COLUMNS} FROM webhook AS w WHERE account_id = $1 AND environments <@ $4::text[]
           ORDER BY created_at, id LIMIT $2 OFFSET $3`,
        [accountId, limit, offset, environments],
      );
      return camelCaseRows<Webhook>(rows);
    },
    async find({ accountId, id }) {
      const { rows } = await database.query(`SELECT ${COLUMNS} FROM webhook AS w WHERE account_id = $1 AND id = $2`, [
        accountId,
        id,
      ]);
      return camelCaseRows<Webhook>(rows)[0] ?? null;
    },
    async change({ accountId, id }, { active, url, types }) {
      return database.transaction(async (tx) => {
        const { rows } = await tx.query<{ active: boolean }>(
          'SELECT active FROM webhook WHERE account_id = $1 AND id = $2 FOR UPDATE',
          [accountId, id],
        );
        const [before] = rows;
        if (before === undefined) return false;
        await tx.query(
          `UPDATE webhook SET url = coalesce($2, url), types = CASE WHEN $3 THEN $4::text[] ELSE types END WHERE id = $1`,
          [id, url ?? null, types !== undefined, types ?? null],
        );
        if (active === undefined || active === before.active) return true;
        await tx.query('UPDATE webhook SET active = $2, failing_since = NULL, paused_until = NULL WHERE id = $1', [
          id,
          active,
        ]);
        await tx.query('DELETE FROM webhook_delivery WHERE webhook_id = $1', [id]);
        return true;
      });
    },
    async delete({ accountId, id }) {
      const { rowCount } = await database.query('DELETE FROM webhook WHERE account_id = $1 AND id = $2', [
        accountId,
        id,
      ]);
      return rowCount > 0;
    },
    async rotate(key, secret, formerUntil) {
      const { rowCount } = await database.query(
        `UPDATE webhook SET former_secret = secret, former_until = $4, secret = $3 WHERE account_id = $1 AND id = $2`,
        [key.accountId, key.id, seal({ ...key, secret }), formerUntil],
      );
      return rowCount > 0;
    },
    async replay({ accountId, id }, place, now) {
      const webhook = await db
        .selectFrom('webhook')
        .select('active')
        .where('accountId', '=', accountId)
        .where('id', '=', id)
        .executeTakeFirst();
      if (webhook?.active !== true) return false;
      await database.query(REPLAY, [now, id, place]);
      return true;
    },
    async receiver({ accountId, id }, now) {
      const row = await db
        .selectFrom('webhook')
        .select(['id', 'accountId', 'url', 'secret', 'formerSecret', 'formerUntil'])
        .where('accountId', '=', accountId)
        .where('id', '=', id)
        .executeTakeFirst();
      return row === undefined ? null : openReceiver(sealingKeys, row, now);
    },
  };
}

/** The secrets of webhooks, to be sealed anew. */
export function sealedWebhookSecrets(database: Database, sealingKeys: SealingKeys): SealedValues[] {
  return ['secret', 'former_secret'].map((column) =>
    sealedRows<{ id: string; account_id: string }>(database, sealingKeys, {
      table: 'webhook',
      column,
      select: 't.id, t.account_id FROM webhook t',
      bindingOf: ({ id, account_id }) => binding(account_id, id),
    }),
  );
}
