import { randomUUID } from 'node:crypto';
import { toIsoDominican } from '@ecf/domain';
import type { SealingKeys } from '@ecf/kit';
import type { Logger } from '@ecf/kit/telemetry';
import type { Database } from '../database.js';

const REPORT_EVERY_MS = 30_000;
/** An instance that has not reported for longer does not run any more. */
const PRESENT_SECONDS = 90;

const REPORT = `
  WITH gone AS (DELETE FROM instances WHERE id <> $1 AND seen_at < now() - interval '1 day')
  INSERT INTO instances (id, key_ids, seen_at) VALUES ($1, $2, now())
  ON CONFLICT (id) DO UPDATE SET key_ids = excluded.key_ids, seen_at = excluded.seen_at`;

/** Reports in the service's database that this instance runs, and the ids of its master keys. */
export interface InstanceReport {
  /** Resolves after the first report. The database has its tables. */
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Table: `instances (id uuid primary key, key_ids text[], seen_at timestamptz)`. */
export function createInstanceReport(options: {
  readonly database: Database;
  readonly sealingKeys: Pick<SealingKeys, 'keyIds'>;
  readonly logger: Logger;
}): InstanceReport {
  const { database, sealingKeys, logger } = options;
  const id = randomUUID();
  let timer: NodeJS.Timeout | undefined;
  let reporting: Promise<unknown> = Promise.resolve();
  const warn = (error: unknown) => logger.warn({ err: error }, 'the instance could not report its master keys');
  const report = () => database.query(REPORT, [id, sealingKeys.keyIds]);
  return {
    async start() {
      await report();
      timer = setInterval(() => {
        reporting = report().catch(warn);
      }, REPORT_EVERY_MS);
      timer.unref();
    },
    async stop() {
      clearInterval(timer);
      await reporting;
      if (timer !== undefined) await database.query('DELETE FROM instances WHERE id = $1', [id]).catch(warn);
    },
  };
}

/** The instances that run, with the ids of their master keys, the newest first. */
export async function presentInstances(database: Pick<Database, 'query'>) {
  const { rows } = await database.query<{ id: string; key_ids: string[]; seen_at: Date }>(
    `SELECT id, key_ids, seen_at FROM instances WHERE seen_at > now() - make_interval(secs => $1) ORDER BY id`,
    [PRESENT_SECONDS],
  );
  return rows.map(({ id, key_ids, seen_at }) => ({ id, key_ids, seen_at: toIsoDominican(seen_at) }));
}
