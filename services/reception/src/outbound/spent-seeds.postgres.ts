import type { Database } from '@ecf/service-kit/postgres';
import type { SpentSeeds } from '../core/ports.js';

const SPEND = {
  name: 'seed_spend',
  text: 'INSERT INTO spent_seeds (id, expires) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING',
};

/** Seeds that bought a token, in PostgreSQL: the primary key decides between two instances. */
export function createSpentSeeds(database: Database): SpentSeeds {
  return {
    async spend(id, expires) {
      const { rowCount } = await database.query(SPEND, [id, expires]);
      return rowCount === 1;
    },
    async clean(now) {
      await database.query('DELETE FROM spent_seeds WHERE expires < $1', [now]);
    },
  };
}
