/** Ids at a time. */
const IDS_AT_ONCE = 100;

/**
 * Takes ids from a sequence in blocks, so that not every row costs a statement. Ids have gaps: a block that a stop leaves
 * behind is lost.
 *
 * @param next resolves with `count` new ids
 */
export function createIds(next: (count: number) => Promise<readonly number[]>): () => Promise<number> {
  const ids: number[] = [];
  return async () => {
    while (ids.length === 0) ids.push(...(await next(IDS_AT_ONCE)));
    return ids.shift() as number;
  };
}
