import type { Database, Queries } from '@ecf/service-kit/postgres';
import type { QuotaClaim, QuotaStore } from './quota-store.js';

// A claim locks the row of its scope until the commit. A commit that does not wait for the disk keeps that short; a server that
// crashes may forget the last claims.
const TAKE = {
  name: 'quota_take',
  text: `WITH commit_without_wait AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
         INSERT INTO refusal_budgets AS b (scope, period, used)
         SELECT $1, $2, $3::bigint FROM commit_without_wait WHERE $3::bigint <= $4::bigint
         ON CONFLICT (scope, period) DO UPDATE SET used = b.used + excluded.used WHERE b.used + excluded.used <= $4::bigint`,
};

/** Quotas in the table `refusal_budgets` of the service. A claim locks its row until all claims are taken. */
export function createQuotaStore(database: Database): QuotaStore {
  async function taken(queries: Queries, { scope, period, amount, limit }: QuotaClaim): Promise<boolean> {
    return (await queries.query(TAKE, [scope, period, amount, limit])).rowCount > 0;
  }

  return {
    async take(claims) {
      const [first] = claims;
      if (first !== undefined && claims.length === 1) return (await taken(database, first)) ? null : first;
      try {
        await database.transaction(async (tx) => {
          for (const claim of claims) if (!(await taken(tx, claim))) throw new QuotaUsedUp(claim);
        });
        return null;
      } catch (error) {
        if (error instanceof QuotaUsedUp) return error.claim;
        throw error;
      }
    },
    async clean(period) {
      await database.query("DELETE FROM refusal_budgets WHERE period <> '' AND period < $1", [period]);
    },
  };
}

/** Rolls back the claims before it. */
class QuotaUsedUp extends Error {
  constructor(readonly claim: QuotaClaim) {
    super(`${claim.scope} has no room`);
  }
}
