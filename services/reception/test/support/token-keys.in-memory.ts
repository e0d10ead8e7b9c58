import type { TokenKey, TokenKeys } from '../../src/tokens/ports.js';

/** Token keys in memory, for tests above the store. */
export function createInMemoryTokenKeys(): TokenKeys {
  let keys: TokenKey[] = [];
  return {
    async all() {
      return [...keys].sort((one, other) => other.createdAt.getTime() - one.createdAt.getTime());
    },
    async rotate(key, newestBefore, oldest) {
      if (!keys.some((one) => one.createdAt > newestBefore)) keys.push(key);
      keys = keys.filter((one) => one.createdAt >= oldest);
    },
  };
}
