import type { QuotaClaim, QuotaStore } from '../../src/quota-store.js';

/** Quotas in memory. */
export function createInMemoryQuotaStore(): QuotaStore {
  const used = new Map<string, number>();
  const nameOf = ({ period, scope }: QuotaClaim) => `${period} ${scope}`;
  const after = (claim: QuotaClaim) => (used.get(nameOf(claim)) ?? 0) + claim.amount;
  return {
    async take(claims) {
      const over = claims.find((claim) => after(claim) > claim.limit);
      if (over !== undefined) return over;
      for (const claim of claims) used.set(nameOf(claim), after(claim));
      return null;
    },
    async clean(before) {
      for (const name of used.keys()) {
        const period = name.slice(0, name.indexOf(' '));
        if (period !== '' && period < before) used.delete(name);
      }
    },
  };
}
