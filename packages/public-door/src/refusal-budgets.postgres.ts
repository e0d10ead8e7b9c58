import type { Database } from '@ecf/service-kit/postgres';
import type { BudgetClaim, RefusalBudgets } from './refusal-budgets.js';

const TAKE = {
  name: 'refusal_budget_take',
  text: `INSERT INTO refusal_budgets AS b (scope, period, used) SELECT $1, $2, $3::bigint WHERE $3::bigint <= $4::bigint
         ON CONFLICT (scope, period) DO UPDATE SET used = b.used + excluded.used WHERE b.used + excluded.used <= $4::bigint`,
};

/** Budgets in PostgreSQL, in the table `refusal_budgets` of the service: a claim is a row that is locked until all of them are taken. */
export function createRefusalBudgets(database: Database): RefusalBudgets {
  return {
    async take(claims) {
      try {
        await database.transaction(async (tx) => {
          for (const claim of claims) {
            const { scope, period, amount, limit } = claim;
            const { rowCount } = await tx.query(TAKE, [scope, period, amount, limit]);
            if (rowCount === 0) throw new UsedUp(claim);
          }
        });
        return null;
      } catch (error) {
        if (error instanceof UsedUp) return error.claim;
        throw error;
      }
    },
    async clean(period) {
      await database.query("DELETE FROM refusal_budgets WHERE period <> '' AND period < $1", [period]);
    },
  };
}

/** Rolls the claims before it back. */
class UsedUp extends Error {
  constructor(readonly claim: BudgetClaim) {
    super(`${claim.scope} has no room`);
  }
}
