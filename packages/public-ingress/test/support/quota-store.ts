import type { QuotaClaim, QuotaStore } from '../../src/quota-store.js';

/** Quotas in memory. */
export function createInMemoryQuotaStore(): QuotaStore {
  const used = new Map<string, number>();
  const nameOf = ({ scope, day }: QuotaClaim) => `${day ?? ''} ${scope}`;
  const after = (claim: QuotaClaim) => (used.get(nameOf(claim)) ?? 0) + claim.amount;
  return {
    async take(claims) {
      const over = claims.find((claim) => after(claim) > claim.limit);
      if (over !== undefined) return over;
      for (const claim of claims) used.set(nameOf(claim), after(claim));
      return null;
    },
    clean: async () => undefined,
  };
}
