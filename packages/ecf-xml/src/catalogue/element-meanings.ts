/** What an element says, with its limit; `limit` is null for a group. */
export function describeElement(_group: string, name: string, limit: string | null = null): string {
  return limit === null ? name : `${name}: ${limit}`;
}
