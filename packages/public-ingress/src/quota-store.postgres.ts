import type { Database, Queries } from '@ecf/postgres';
import { QUOTA_HOURS, type QuotaClaim, type QuotaStore, quotaHour } from './quota-store.js';

// A claim locks the row of its scope until the commit. A commit that does not wait for the disk keeps that short; a server that
// crashes may forget the last claims.
const TAKE_FOR_GOOD = {
  name: 'quota_take',
  text: `WITH commit_without_wait AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
         INSERT INTO refusal_budgets AS b (scope, period, used)
         SELECT $1, '', $2::bigint FROM commit_without_wait WHERE $2::bigint <= $3::bigint
         ON CONFLICT (scope, period) DO UPDATE SET used = b.used + excluded.used WHERE b.used + excluded.used <= $3::bigint`,
};
/** The bytes of the last 24 hours: those of hours that passed since the row was written are 0. */
const ROLLED = `ARRAY(SELECT CASE WHEN (slot - b.hour - 1 + ${QUOTA_HOURS} * 10000000) % ${QUOTA_HOURS} < excluded.hour - b.hour THEN 0
                                ELSE b.buckets[slot + 1] END
                        FROM generate_series(0, ${QUOTA_HOURS - 1}) AS slot ORDER BY slot)`;
const TAKE = {
  name: 'quota_take_rolling',
  text: `WITH commit_without_wait AS MATERIALIZED (SELECT set_config('synchronous_commit', 'off', true))
         INSERT INTO stored_bytes AS b (scope, hour, buckets)
         SELECT $1, $2::bigint, ARRAY(SELECT CASE WHEN slot = $2::bigint % ${QUOTA_HOURS} THEN $3::bigint ELSE 0 END
                                        FROM generate_series(0, ${QUOTA_HOURS - 1}) AS slot ORDER BY slot)
           FROM commit_without_wait WHERE $3::bigint <= $4::bigint
         ON CONFLICT (scope) DO UPDATE
            SET hour = greatest(b.hour, excluded.hour),
                buckets = ARRAY(SELECT one + CASE WHEN place = excluded.hour % ${QUOTA_HOURS} + 1 THEN $3::bigint ELSE 0 END
                                  FROM unnest(${ROLLED}) WITH ORDINALITY AS rolled(one, place) ORDER BY place)
          WHERE (SELECT sum(one) FROM unnest(${ROLLED}) AS rolled(one)) + $3::bigint <= $4::bigint`,
};

/** Quotas in the tables `refusal_budgets` and `stored_bytes` of the service. A claim locks its row until all claims are taken. */
export function createQuotaStore(database: Database): QuotaStore {
  async function taken(queries: Queries, { scope, hour, amount, limit }: QuotaClaim): Promise<boolean> {
    const { rowCount } =
      hour === null
        ? await queries.query(TAKE_FOR_GOOD, [scope, amount, limit])
        : await queries.query(TAKE, [scope, hour, amount, limit]);
    return rowCount > 0;
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
      await database.query('DELETE FROM stored_bytes WHERE hour <= $1', [quotaHour(now) - QUOTA_HOURS]);
      // Bytes counted in a future hour, by a wrong clock, would count until that hour has passed.
      await database.query('UPDATE stored_bytes SET hour = $1 WHERE hour > $1', [quotaHour(now)]);
      // Amounts of a day, which earlier versions counted.
      await database.query("DELETE FROM refusal_budgets WHERE period <> ''");
    },
  };
}

/** Rolls back the claims before it. */
class QuotaUsedUp extends Error {
  constructor(readonly claim: QuotaClaim) {
    super(`${claim.scope} has no room`);
  }
}
