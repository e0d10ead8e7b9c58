import { toCalendarDate } from '@ecf/domain';
import type { Database, Queries } from '@ecf/postgres';
import type { QuotaClaim, QuotaStore } from './quota-store.js';

// A claim locks the row of its scope until the commit. A commit that does not wait for the disk keeps that short; a server that
// crashes may forget the last claims.
const TAKE = {
  name: 'quota_take',
  text: `WITH commit_without_wait AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
         INSERT INTO used_quotas AS q (scope, day, used)
         SELECT $1, $2, $3::bigint FROM commit_without_wait WHERE $3::bigint <= $4::bigint
         ON CONFLICT (scope, day) DO UPDATE SET used = q.used + excluded.used WHERE q.used + excluded.used <= $4::bigint`,
};

/** Quotas in the table `used_quotas` of the service. A claim locks its row until all claims are taken. */
export function createQuotaStore(database: Database): QuotaStore {
  async function taken(queries: Queries, { scope, day, amount, limit }: QuotaClaim): Promise<boolean> {
    return (await queries.query(TAKE, [scope, day ?? '', amount, limit])).rowCount > 0;
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
    async clean(now) {
      await database.query("DELETE FROM used_quotas WHERE day <> '' AND day < $1", [toCalendarDate(now)]);
    },
  };
}

/** Rolls back the claims before it. */
class QuotaUsedUp extends Error {
  constructor(readonly claim: QuotaClaim) {
    super(`the quota of ${claim.scope} is used up`);
  }
}
