import type { Database } from '@ecf/service-kit/postgres';
import type { RunStore } from '../core/ports.js';

/** $1 env, $2 issuers. */
const PRESENT = {
  name: 'runs_present',
  text: `SELECT coalesce(c.run, 1) AS run FROM unnest($2::text[]) WITH ORDINALITY AS k(issuer_rnc, place)
    LEFT JOIN certification_run c ON c.env = $1 AND c.issuer_rnc = k.issuer_rnc ORDER BY k.place`,
};

const NOTE = {
  name: 'runs_note',
  text: `INSERT INTO certification_run AS present (env, issuer_rnc, run)
    SELECT env, issuer_rnc, max(run) FROM unnest($1::text[], $2::text[], $3::int[]) AS r(env, issuer_rnc, run)
      GROUP BY env, issuer_rnc ORDER BY env, issuer_rnc
    ON CONFLICT (env, issuer_rnc) DO UPDATE SET run = excluded.run WHERE present.run < excluded.run`,
};

/** The present certification runs in PostgreSQL. */
export function createPostgresRuns(database: Database): RunStore {
  return {
    async present(env, issuerRncs) {
      if (env === 'eCF') return issuerRncs.map(() => 1);
      const { rows } = await database.query<{ run: number }>(PRESENT, [env, issuerRncs]);
      return rows.map(({ run }) => run);
    },
    async note(runs) {
      if (runs.length === 0) return;
      await database.query(NOTE, [
        runs.map(({ env }) => env),
        runs.map(({ issuerRnc }) => issuerRnc),
        runs.map(({ run }) => run),
      ]);
    },
  };
}
