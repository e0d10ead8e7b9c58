import type { Database } from '@ecf/service-kit/postgres';
import type { Logger } from '@ecf/service-kit/telemetry';
import type { KeyUses } from '../core/ports.js';

/** Milliseconds between two stored uses of a key. */
const EVERY_MS = 60_000;
/** Milliseconds in which uses of several keys are collected for one statement. */
const COLLECT_MS = 1_000;

const STORE = {
  name: 'store_key_uses',
  text: `UPDATE api_keys SET last_used_at = greatest(last_used_at, uses.at)
    FROM unnest($1::text[], $2::timestamptz[]) AS uses(id, at) WHERE api_keys.id = uses.id`,
};

/** Uses of keys in the gateway's database: one statement a second at most, and one write of a key a minute. */
export function createKeyUses({ database, logger }: { database: Database; logger: Logger }): KeyUses {
  const stored = new Map<string, number>();
  let pending = new Map<string, Date>();
  let timer: NodeJS.Timeout | null = null;

  async function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    if (pending.size === 0) return;
    const uses = pending;
    pending = new Map();
    try {
      await database.query(STORE, [[...uses.keys()], [...uses.values()]]);
    } catch (error) {
      for (const keyId of uses.keys()) stored.delete(keyId);
      logger.warn({ err: error }, 'the last uses of API keys were not stored; the next use is');
    }
  }

  return {
    used(keyId, at) {
      if (at.getTime() - (stored.get(keyId) ?? 0) < EVERY_MS) return;
      stored.set(keyId, at.getTime());
      pending.set(keyId, at);
      timer ??= setTimeout(flush, COLLECT_MS).unref();
    },
    flush,
  };
}
