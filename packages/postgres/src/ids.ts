/** Ids at a time. */
const IDS_AT_ONCE = 100;
/** An id may state the day of its draw, so it is used soon. */
const KEPT_MS = 3_600_000;

/**
 * Takes ids from a sequence in blocks, so that not every row costs a statement. Ids have gaps: a block that a stop leaves
 * behind, or that is an hour old, is lost.
 *
 * @param next resolves with `count` new ids
 */
export function createIds(next: (count: number) => Promise<readonly number[]>): () => Promise<number> {
  let ids: number[] = [];
  let drawnAt = 0;
  return async () => {
    if (performance.now() - drawnAt > KEPT_MS) ids = [];
    while (ids.length === 0) {
      drawnAt = performance.now();
      ids.push(...(await next(IDS_AT_ONCE)));
    }
    return ids.shift() as number;
  };
}
