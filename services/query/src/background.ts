import { fileURLToPath } from 'node:url';
import type { Subscription } from '@ecf/bus';
import { createDatabaseIfMissing, type Database, migrate, settleRestores } from '@ecf/postgres';
import { type CleaningOptions, createCleaning } from '@ecf/service';
import type { Rebuild } from './rebuild/rebuild.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));

export interface BackgroundParts {
  readonly database: Database;
  readonly startClock: () => Promise<void>;
  /** Subscribes to the events of the read models and of the feed. */
  readonly subscribe: () => Promise<Subscription>;
  readonly webhooks: { start(): Promise<void>; stop(): Promise<void> };
  readonly clean: CleaningOptions['clean'];
  readonly rebuild: Pick<Rebuild, 'resume' | 'stop'>;
  readonly clock: () => Date;
  readonly failed: (what: string, error: unknown) => void;
}

/** The work beside the requests: events in, webhooks, rebuilds, and cleaning. */
export function createBackground(parts: BackgroundParts) {
  const { database, webhooks, rebuild, failed } = parts;
  const cleaning = createCleaning({
    clean: parts.clean,
    clock: parts.clock,
    failed: (error) => failed('cleaning', error),
  });
  let subscription: Subscription | null = null;
  let filling = Promise.resolve();
  return {
    /** Prepares the database, then starts the work. */
    async start(): Promise<void> {
      await createDatabaseIfMissing(database.url);
      await migrate(database.url, MIGRATIONS);
      await parts.startClock();
      // The ids of its events continue above the ones that readers have. What it lost is published again by the other services.
      await settleRestores(database, async () => undefined);
      subscription = await parts.subscribe();
      await webhooks.start();
      cleaning.start();
      filling = rebuild.resume();
    },
    /** Resolves when the work in flight is finished. */
    async stop(): Promise<void> {
      await Promise.all([rebuild.stop(), filling]);
      await subscription?.stop();
      await webhooks.stop();
      await cleaning.stop();
    },
  };
}
