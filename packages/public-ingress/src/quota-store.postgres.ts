import type { Database } from '@ecf/service-kit/postgres';
import type { QuotaClaim, QuotaStore } from './quota-store.js';

const TAKE = {
  name: 'quota_take',
  text: `INSERT INTO refusal_budgets AS b (scope, period, used) SELECT $1, $2, $3::bigint WHERE $3::bigint <= $4::bigint
         ON CONFLICT (scope, period) DO UPDATE SET used = b.used + excluded.used WHERE b.used + excluded.used <= $4::bigint`,
};

/** Quotas in the table `refusal_budgets` of the service. A claim locks its row until all claims are taken. */
export function createQuotaStore(database: Database): QuotaStore {
  return {
    async take(claims) {
      try {
        await database.transaction(async (tx) => {
          for (const claim of claims) {
            const { scope, period, amount, limit } = claim;
            const { rowCount } = await tx.query(TAKE, [scope, period, amount, limit]);
            if (rowCount === 0) throw new QuotaUsedUp(claim);
          }
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
