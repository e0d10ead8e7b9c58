import { type Database, deleteExpired, type Retention } from '@ecf/postgres';
import type { SpentSeeds } from './ports.js';

const SPEND = {
  name: 'seed_spend',
  text: 'INSERT INTO spent_seeds (id, expires) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
};

/** A day longer than the seed is valid: a clock that is ahead by hours for a moment makes no spent seed valid again. */
const EXPIRED: Retention = { table: 'spent_seeds', column: 'expires', keptMs: 24 * 3_600_000 };

/** Seeds that bought a token, in PostgreSQL: the primary key decides between two instances. */
export function createSpentSeeds(database: Database): SpentSeeds {
  return {
    async spend(id, expires) {
      const { rowCount } = await database.query(SPEND, [id, expires]);
      return rowCount === 1;
    },
    async clean(now) {
      await deleteExpired(database, EXPIRED, now);
    },
  };
}
