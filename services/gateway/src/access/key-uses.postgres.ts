import type { AuditAct } from '@ecf/contracts';
import { toCalendarDate, toIsoDominican } from '@ecf/domain';
import type { Logger } from '@ecf/kit/telemetry';
import type { Database } from '@ecf/postgres';
import { LRUCache } from 'lru-cache';
import { appendAudit } from '../audit/audit-log.postgres.js';
import { apiKeyPath } from '../audit/targets.js';
import type { KeyUses } from './ports.js';

/** Milliseconds between two stored uses of a key. */
const EVERY_MS = 60_000;
/** Milliseconds in which uses of several keys are collected for one statement. */
const COLLECT_MS = 1_000;
/** This many different keys are stored without waiting for the end of that time. */
const MOST_COLLECTED = 1_000;
/** Keys whose last use is remembered. A use of a key that was dropped costs one more write. */
const REMEMBERED = 10_000;

/** The uses before; the rows are locked in one order, so that two gateways do not wait for each other. */
const EARLIER = `SELECT id, account_id, name, last_used_at FROM api_keys WHERE id = ANY($1) ORDER BY id FOR UPDATE`;
/** Instances store uses in another order by less. A later time was noted by a wrong clock. */
const LATEST_MS = 600_000;
const STORE = `UPDATE api_keys SET last_used_at =
    CASE WHEN last_used_at BETWEEN uses.at AND uses.at + interval '${LATEST_MS} milliseconds' THEN last_used_at ELSE uses.at END
  FROM unnest($1::text[], $2::timestamptz[]) AS uses(id, at) WHERE api_keys.id = uses.id`;

interface Earlier {
  id: string;
  account_id: string;
  name: string;
  last_used_at: Date | null;
}

/**
 * Records uses of keys in the gateway's database: at most one transaction a second and one write of a key a minute. The
 * audit log gets one entry for each key and Dominican day.
 */
export function createKeyUses({ database, logger }: { database: Database; logger: Logger }): KeyUses {
  const stored = new LRUCache<string, number>({ max: REMEMBERED });
  let pending = new Map<string, Date>();
  let timer: NodeJS.Timeout | null = null;
  let storing = Promise.resolve();

  /** Resolves when all uses before the call are stored. */
  function flush(): Promise<void> {
    if (timer !== null) clearTimeout(timer);
    timer = null;
    storing = storing.then(store);
    return storing;
  }

  async function store(): Promise<void> {
    if (pending.size === 0) return;
    const uses = pending;
    pending = new Map();
    try {
      await database.transaction(async (tx) => {
        const { rows } = await tx.query<Earlier>(EARLIER, [[...uses.keys()]]);
        await tx.query(STORE, [[...uses.keys()], [...uses.values()]]);
        await appendAudit(
          tx,
          rows.flatMap((earlier) => firstOfDay(earlier, uses.get(earlier.id))),
        );
      });
    } catch (error) {
      for (const keyId of uses.keys()) stored.delete(keyId);
      logger.warn({ err: error }, 'the last uses of API keys were not stored; the next use is');
    }
  }

  return {
    used(keyId, at) {
      if (Math.abs(at.getTime() - (stored.get(keyId) ?? 0)) < EVERY_MS) return;
      // Only while the database does not answer. The use is not remembered as stored, so the next one is stored.
      if (pending.size >= REMEMBERED) return;
      stored.set(keyId, at.getTime());
      pending.set(keyId, at);
      if (pending.size === MOST_COLLECTED) void flush();
      else timer ??= setTimeout(flush, COLLECT_MS).unref();
    },
    flush,
  };
}

function firstOfDay({ id, account_id, name, last_used_at }: Earlier, at: Date | undefined): AuditAct[] {
  if (at === undefined) return [];
  const day = toCalendarDate(at);
  const isKnown = last_used_at !== null && last_used_at.getTime() <= at.getTime() + LATEST_MS;
  if (isKnown && toCalendarDate(last_used_at) >= day) return [];
  const target = apiKeyPath(account_id, id);
  const what = { actor: `api_key:${id}`, action: 'api_key.use', target, details: { name, day }, request_id: null };
  return [{ at: toIsoDominican(at), ...what }];
}
