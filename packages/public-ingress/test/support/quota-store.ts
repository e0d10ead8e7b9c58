import { QUOTA_HOURS, type QuotaClaim, type QuotaStore, quotaHour } from '../../src/quota-store.js';

/** Quotas in memory. */
export function createInMemoryQuotaStore(): QuotaStore {
  let taken: QuotaClaim[] = [];
  const counts = (one: QuotaClaim, claim: QuotaClaim) =>
    one.scope === claim.scope && (one.hour === null || claim.hour === null || one.hour > claim.hour - QUOTA_HOURS);
  const after = (claim: QuotaClaim) =>
    taken.filter((one) => counts(one, claim)).reduce((sum, { amount }) => sum + amount, claim.amount);
  return {
    async take(claims) {
      const over = claims.find((claim) => after(claim) > claim.limit);
      if (over !== undefined) return over;
      taken.push(...claims);
      return null;
    },
    async clean(now) {
      taken = taken.filter(({ hour }) => hour === null || hour > quotaHour(now) - QUOTA_HOURS);
    },
  };
}
