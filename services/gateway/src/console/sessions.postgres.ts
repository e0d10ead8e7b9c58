import { SESSION_IDLE_HOURS } from '@ecf/contracts';
import { type Database, queryBuilder } from '@ecf/postgres';
import type { DB } from '../generated/tables.js';
import type { ConsoleSessionStore } from './ports.js';

const IDLE_MS = SESSION_IDLE_HOURS * 3_600_000;
const NOTED_EVERY_MS = 60_000;

/** Sessions in the gateway's database: signing out is effective on every instance. */
export function createPostgresConsoleSessions(database: Database): ConsoleSessionStore {
  const db = queryBuilder<DB>(database);
  const ended = (now: Date) => new Date(now.getTime() - IDLE_MS);
  return {
    async add(hash, { kind, credential }, now) {
      await db.insertInto('consoleSessions').values({ hash, kind, credential, createdAt: now, usedAt: now }).execute();
    },
    async use(hash, now) {
      const session = await db
        .selectFrom('consoleSessions')
        .select(['kind', 'credential', 'usedAt'])
        .where('hash', '=', hash)
        .where('usedAt', '>', ended(now))
        .executeTakeFirst();
      if (session === undefined) return null;
      if (now.getTime() - session.usedAt.getTime() > NOTED_EVERY_MS)
        await db.updateTable('consoleSessions').set({ usedAt: now }).where('hash', '=', hash).execute();
      return session;
    },
    async remove(hash) {
      await db.deleteFrom('consoleSessions').where('hash', '=', hash).execute();
    },
    async clean(now) {
      await db.deleteFrom('consoleSessions').where('usedAt', '<=', ended(now)).execute();
    },
  };
}
