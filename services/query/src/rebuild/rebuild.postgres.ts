import { type Database, queryBuilder } from '@ecf/postgres';
import type { DB } from '../generated/tables.js';
import type { RebuildStore } from './rebuild.js';

/** Time without progress after which another instance may begin a rebuild anew. */
const ABANDONED = '3 minutes';
/** In the order in which a projection locks them. */
const TABLES = 'invoice, invoice_rollup, buyer_rollup, rejection_rollup, received_invoice';

/** The progress of rebuilds in PostgreSQL. */
export function createPostgresRebuild(database: Database): RebuildStore {
  return {
    state: () =>
      queryBuilder<DB>(database)
        .selectFrom('rebuild')
        .select(['building', 'filled', 'startedAt', 'finishedAt', 'documents', 'failure'])
        .executeTakeFirstOrThrow(),
    begin: ({ empty }) =>
      database.transaction(async (tx) => {
        const { rows } = await tx.query<{ startedAt: Date }>(
          `UPDATE rebuild SET building = true, started_at = now(), progress_at = now(), finished_at = NULL, documents = 0, failure = NULL
            WHERE NOT building OR progress_at IS NULL OR progress_at < now() - interval '${ABANDONED}'
            RETURNING started_at AS "startedAt"`,
        );
        if (rows[0] === undefined) return null;
        if (empty) await tx.query(`TRUNCATE ${TABLES}`);
        return rows[0].startedAt;
      }),
    async progress(startedAt, { documents = null, failure = null }) {
      const { rowCount } = await database.query(
        `UPDATE rebuild SET progress_at = now(), documents = coalesce($2, documents), failure = $3 WHERE building AND started_at = $1`,
        [startedAt, documents, failure],
      );
      return rowCount > 0;
    },
    async end(startedAt, how) {
      if (how === 'left') {
        await database.query('UPDATE rebuild SET progress_at = NULL WHERE started_at = $1', [startedAt]);
        return;
      }
      // The planner's statistics are ready before the first query.
      await database.query(`ANALYZE ${TABLES}`);
      await database.query(
        'UPDATE rebuild SET building = false, filled = true, finished_at = now() WHERE building AND started_at = $1',
        [startedAt],
      );
    },
    async nothingToFill() {
      await database.query('UPDATE rebuild SET filled = true');
    },
  };
}
