import { anyOf, type Database, queryBuilder } from '@ecf/postgres';
import type { DB } from '../generated/tables.js';
import type { RunStore } from './ports.js';

/** The present certification runs in PostgreSQL. */
export function createPostgresRuns(database: Database): RunStore {
  const builder = queryBuilder<DB>(database);
  return {
    async present(env, issuerRncs) {
      if (env === 'eCF' || issuerRncs.length === 0) return issuerRncs.map(() => 1);
      const rows = await builder
        .selectFrom('certificationRun')
        .select(['issuerRnc', 'run'])
        .where('env', '=', env)
        .where('issuerRnc', '=', anyOf(issuerRncs))
        .execute();
      const runs = new Map(rows.map(({ issuerRnc, run }) => [issuerRnc, run]));
      return issuerRncs.map((rnc) => runs.get(rnc) ?? 1);
    },
    async note(runs) {
      for (const run of runs)
        await builder
          .insertInto('certificationRun')
          .values(run)
          .onConflict((conflict) =>
            conflict
              .columns(['env', 'issuerRnc'])
              .doUpdateSet(({ ref }) => ({ run: ref('excluded.run') }))
              .whereRef('certificationRun.run', '<', 'excluded.run'),
          )
          .execute();
    },
  };
}
