import type { SpentSeeds } from '../../src/tokens/ports.js';

/** Redeemed seeds in memory, for tests above the store. */
export function createInMemorySpentSeeds(): SpentSeeds {
  const spent = new Map<string, Date>();
  return {
    async spend(id, expires) {
      if (spent.has(id)) return false;
      spent.set(id, expires);
      return true;
    },
    async clean(now) {
      for (const [id, expires] of spent) if (expires.getTime() + 86_400_000 < now.getTime()) spent.delete(id);
    },
  };
}
