import { fileURLToPath } from 'node:url';
import { cleanInbox, type OutboxRelay, type Subscription } from '@ecf/bus';
import { ConfigError, SEAL_HEAD, type SealingKeys } from '@ecf/kit';
import type { Logger } from '@ecf/kit/telemetry';
import {
  createDatabaseIfMissing,
  createInstanceReport,
  type Database,
  type DatabaseClock,
  migrate,
  settleRestores,
} from '@ecf/postgres';
import { createCleaning } from '@ecf/service';
import { createStoredAccessRevision } from './access/keys.postgres.js';
import { publishAfterRestore } from './accounts/changes.postgres.js';
import type { ConsoleSessionStore } from './console/ports.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

export interface BackgroundParts {
  readonly database: Database;
  readonly databaseClock: DatabaseClock;
  readonly sealingKeys: SealingKeys;
  readonly sessions: Pick<ConsoleSessionStore, 'clean'>;
  readonly relay: OutboxRelay;
  /** Receives the access revision at the start. */
  readonly noteRevision: (revision: number) => void;
  /** Subscribes to the events of other services. */
  readonly subscribe: () => Promise<Subscription>;
  readonly clock: () => Date;
  readonly logger: Logger;
}

/** The work beside the requests: events in and out, the report of the instance, and cleaning. */
export function createBackground(parts: BackgroundParts) {
  const { database, databaseClock, sealingKeys, relay, logger } = parts;
  const instance = createInstanceReport(parts);
  const cleaning = createCleaning({
    clean: (now) => Promise.all([cleanInbox(database, now), parts.sessions.clean(now)]),
    clock: parts.clock,
    failed: (error) => logger.warn({ err: error }, 'cleaning failed'),
  });
  let subscription: Subscription | null = null;
  return {
    /** Prepares the database, then starts the work. */
    async start(): Promise<void> {
      await createDatabaseIfMissing(database.url);
      const applied = await migrate(database.url, MIGRATIONS);
      if (applied.length > 0) logger.info({ applied }, 'database migrated');
      await databaseClock.start();
      await settleRestores(database, (tx, restore) => publishAfterRestore(tx, restore, parts.clock()));
      await requireMasterKey(database, sealingKeys);
      await instance.start();
      parts.noteRevision(await createStoredAccessRevision(database).current());
      relay.start();
      cleaning.start();
      subscription = await parts.subscribe();
    },
    /** Resolves when the work in flight is finished. */
    async stop(): Promise<void> {
      await cleaning.stop();
      await subscription?.stop();
      await relay.stop();
      await instance.stop();
      databaseClock.stop();
    },
  };
}

/** Refuses to start with keys that cannot open the stored certificates: otherwise the first invoice would fail. */
async function requireMasterKey(database: Database, sealingKeys: SealingKeys): Promise<void> {
  const { rows } = await database.query<{ head: Buffer }>(
    `SELECT DISTINCT substring(sealed from 1 for ${SEAL_HEAD}) AS head FROM certificates`,
  );
  if (rows.every(({ head }) => sealingKeys.hasKeyOf(head))) return;
  const message = 'does not hold a key that stored certificates were sealed with; add that key behind the newest';
  throw new ConfigError([{ variable: sealingKeys.setting, message }]);
}
