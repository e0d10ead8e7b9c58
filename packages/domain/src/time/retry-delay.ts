/** The longest pause of {@link retryDelay}, in milliseconds. */
export const LONGEST_RETRY_DELAY_MS = 3_600_000;

/**
 * Pause before the next try, in milliseconds. It is `firstMs` after the first failure and then doubles up to
 * `longestMs`, one hour. Jitter is up to a quarter in both directions, at the longest pause only downwards. The tries never end.
 *
 * @param failures tries that failed so far, at least 1
 * @param random a number from 0 (included) to 1 (excluded)
 */
export function retryDelay(
  failures: number,
  firstMs: number,
  random: () => number,
  longestMs = LONGEST_RETRY_DELAY_MS,
): number {
  const doubled = firstMs * 2 ** Math.min(Math.max(failures, 1) - 1, 20);
  const jittered = Math.min(doubled, longestMs) * (0.75 + random() * 0.5);
  return Math.round(Math.min(jittered, longestMs));
}
