import type { Query } from './exchange.js';

/** Reads a query string; names count in any case, as on the authority's servers. */
export function readQuery(search: string): Query {
  if (search === '') return { get: () => null };
  const values = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(search)) {
    const key = name.toLowerCase();
    if (value !== '' && !values.has(key)) values.set(key, value);
  }
  return {
    get(...names) {
      for (const name of names) {
        const value = values.get(name);
        if (value !== undefined) return value;
      }
      return null;
    },
  };
}
