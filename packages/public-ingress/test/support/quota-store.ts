import { QUOTA_HOURS, type QuotaClaim, type QuotaStore, quotaHour } from '../../src/quota-store.js';

/** Quotas in memory. */
export function createInMemoryQuotaStore(): QuotaStore {
  let taken: QuotaClaim[] = [];
  const counts = (one: QuotaClaim, scope: string, hour: number | null) =>
    one.scope === scope && (one.hour === null || hour === null || one.hour > hour - QUOTA_HOURS);
  const after = (claim: QuotaClaim) =>
    taken.filter((one) => counts(one, claim.scope, claim.hour)).reduce((sum, { amount }) => sum + amount, claim.amount);
  return {
    async take(claims) {
      const over = claims.find((claim) => after(claim) > claim.limit);
      if (over !== undefined) return over;
      taken.push(...claims);
      return null;
    },
    async used(scope, hour) {
      const hours = new Map<number, number>();
      for (const one of taken)
        if (one.hour !== null && counts(one, scope, hour)) hours.set(one.hour, (hours.get(one.hour) ?? 0) + one.amount);
      return [...hours].sort(([one], [other]) => one - other).map(([hour, used]) => ({ hour, used }));
    },
    async clean(now) {
      taken = taken.filter(({ hour }) => hour === null || hour > quotaHour(now) - QUOTA_HOURS);
    },
  };
}
