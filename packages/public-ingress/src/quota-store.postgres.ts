import type { Database, Queries } from '@ecf/postgres';
import { QUOTA_HOURS, type QuotaClaim, type QuotaStore, quotaHour, type UsedInHour } from './quota-store.js';

/** The hour of amounts that count for good. */
const FOR_GOOD = 0;

// A claim locks the row of its scope and hour until the commit. A commit that does not wait for the disk keeps that short; a server
// that crashes may forget the last claims. Only at a full hour, when some claims are still of the hour before, two claims that do
// not see each other can exceed a limit.
const TAKE = {
  name: 'quota_take',
  text: `WITH commit_without_wait AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true)),
              others AS MATERIALIZED (SELECT coalesce(sum(used), 0)::bigint AS used FROM used_quotas
                                       WHERE scope = $1 AND hour >= $3::int AND hour <> $2::int)
         INSERT INTO used_quotas AS q (scope, hour, used)
         SELECT $1, $2::int, $4::bigint FROM commit_without_wait, others WHERE others.used + $4::bigint <= $5::bigint
         ON CONFLICT (scope, hour) DO UPDATE SET used = q.used + excluded.used
          WHERE (SELECT others.used FROM others) + q.used + excluded.used <= $5::bigint`,
};
const USED = {
  name: 'quota_used',
  text: 'SELECT hour, used FROM used_quotas WHERE scope = $1 AND hour >= $2 ORDER BY hour',
};

/** Quotas in the table `used_quotas` of the service. A claim locks its row until all claims are taken. */
export function createQuotaStore(database: Database): QuotaStore {
  async function taken(queries: Queries, { scope, hour, amount, limit }: QuotaClaim): Promise<boolean> {
    const oldest = hour === null ? FOR_GOOD : oldestCounting(hour);
    return (await queries.query(TAKE, [scope, hour ?? FOR_GOOD, oldest, amount, limit])).rowCount > 0;
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
    async used(scope, hour) {
      return (await database.query<UsedInHour>(USED, [scope, oldestCounting(hour)])).rows;
    },
    async clean(now) {
      const hour = quotaHour(now);
      // An hour in the future comes from a clock that was ahead; its amounts would count until that hour has passed.
      await database.query('DELETE FROM used_quotas WHERE hour <> $1 AND hour NOT BETWEEN $2 AND $3', [
        FOR_GOOD,
        oldestCounting(hour),
        hour + 1,
      ]);
    },
  };
}

/** The oldest hour whose amounts count in this hour. */
function oldestCounting(hour: number): number {
  return hour - QUOTA_HOURS + 1;
}

/** Rolls back the claims before it. */
class QuotaUsedUp extends Error {
  constructor(readonly claim: QuotaClaim) {
    super(`the quota of ${claim.scope} is used up`);
  }
}
