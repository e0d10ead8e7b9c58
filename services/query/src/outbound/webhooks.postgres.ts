import { type SealedValues, sealedRows } from '@ecf/service-kit/master-keys';
import type { Database } from '@ecf/service-kit/postgres';
import type { SealBinding, SealingKeys } from '@ecf/service-kit/security';
import type { NewWebhook, Receiver, Webhook, WebhookStore } from '../core/webhooks/webhook-ports.js';

const LATEST = 'coalesce((SELECT max(id) FROM feed_event), 0)';
const COLUMNS = `w.id, w.account_id AS "accountId", w.url, w.types, w.environments, w.active, w.created_at AS "createdAt",
  w.last_success_at AS "lastSuccessAt", w.failing_since AS "failingSince", w.dropped,
  (SELECT count(*) FROM webhook_delivery AS d WHERE d.webhook_id = w.id) AS pending`;

/** A webhook's address and its secrets as they are stored. */
export interface SealedReceiver {
  id: string;
  account_id: string;
  url: string;
  secret: Buffer;
  former_secret: Buffer | null;
  former_until: Date | null;
}

const binding = (account: string, id: string): SealBinding => ({ purpose: 'webhook secret', account, subject: id });

/** Opens the secrets of a webhook that sign at `now`. One that no key of this instance opens is left out. */
export function openReceiver(sealingKeys: SealingKeys, row: SealedReceiver, now: Date): Receiver {
  const { former_secret: former, former_until: until } = row;
  const sealed = former !== null && until !== null && until > now ? [row.secret, former] : [row.secret];
  const open = (secret: Buffer) => sealingKeys.unseal(secret, binding(row.account_id, row.id)).toString('utf8');
  return { url: row.url, secrets: sealed.filter((secret) => sealingKeys.hasKeyOf(secret)).map(open) };
}

/** Webhooks in PostgreSQL. */
export function createPostgresWebhooks(database: Database, sealingKeys: SealingKeys): WebhookStore {
  const seal = ({ accountId, id, secret }: Pick<NewWebhook, 'accountId' | 'id' | 'secret'>) =>
    sealingKeys.seal(Buffer.from(secret, 'utf8'), binding(accountId, id));
  return {
    async create(webhook, most, now) {
      const { id, accountId, url, types, environments } = webhook;
      const { rowCount } = await database.query(
        `INSERT INTO webhook (id, account_id, url, types, environments, secret, collected, created_at)
         SELECT $1, $2, $3, $4, $5, $6, ${LATEST}, $7 WHERE (SELECT count(*) FROM webhook WHERE account_id = $2) < $8`,
        [id, accountId, url, types, environments, seal(webhook), now, most],
      );
      return rowCount > 0;
    },
    async list(accountId, { limit, offset, environments }) {
      const { rows } = await database.query<Webhook>(
        `SELECT ${COLUMNS} FROM webhook AS w WHERE account_id = $1 AND environments <@ $4::text[]
           ORDER BY created_at, id LIMIT $2 OFFSET $3`,
        [accountId, limit, offset, environments],
      );
      return rows;
    },
    async find({ accountId, id }) {
      const { rows } = await database.query<Webhook>(
        `SELECT ${COLUMNS} FROM webhook AS w WHERE account_id = $1 AND id = $2`,
        [accountId, id],
      );
      return rows[0] ?? null;
    },
    async change({ accountId, id }, { active, url, types }) {
      return database.transaction(async (tx) => {
        const { rowCount } = await tx.query(
          `UPDATE webhook SET url = coalesce($3, url), types = CASE WHEN $4 THEN $5::text[] ELSE types END,
             collected = CASE WHEN $6 AND NOT active THEN ${LATEST} ELSE collected END,
             failing_since = CASE WHEN $6 AND NOT active THEN NULL ELSE failing_since END, active = coalesce($6, active)
           WHERE account_id = $1 AND id = $2`,
          [accountId, id, url ?? null, types !== undefined, types ?? null, active ?? null],
        );
        if (rowCount > 0 && active === false)
          await tx.query('DELETE FROM webhook_delivery WHERE webhook_id = $1', [id]);
        return rowCount > 0;
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
    async replay({ accountId, id }, place) {
      return database.transaction(async (tx) => {
        // A failed delivery locks its row before its webhook's, so these rows are locked first here too.
        await tx.query(
          'SELECT FROM webhook_delivery WHERE webhook_id = $1 AND event_id > $2 ORDER BY event_id FOR UPDATE',
          [id, place],
        );
        const { rowCount } = await tx.query(
          'UPDATE webhook SET collected = least(collected, $3) WHERE account_id = $1 AND id = $2 AND active',
          [accountId, id, place],
        );
        // Events that wait are collected again with those before them, so that each subject keeps its order.
        if (rowCount > 0)
          await tx.query('DELETE FROM webhook_delivery WHERE webhook_id = $1 AND event_id > $2', [id, place]);
        return rowCount > 0;
      });
    },
    async receiver({ accountId, id }, now) {
      const { rows } = await database.query<SealedReceiver>(
        `SELECT id, account_id, url, secret, former_secret, former_until FROM webhook WHERE account_id = $1 AND id = $2`,
        [accountId, id],
      );
      return rows[0] === undefined ? null : openReceiver(sealingKeys, rows[0], now);
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
