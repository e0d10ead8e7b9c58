/**
 * The first retry comes within a minute whatever a receiver asks for; what is left of it is for the look that finds it due and
 * for what stands before it in line.
 */
export const FIRST_RETRY_WITHIN_MS = 55_000;
/** Who has no receiver today may have one soon; asking each minute would be of no use. */
const NO_RECEIVER_PAUSE_MS = 3_600_000;

/**
 * Milliseconds of the pause that a receiver asked for which are kept after so many tries. One that ends beyond the deadline is
 * not kept: it would be the end before all was tried.
 */
export function keptPause(askedMs: number, tries: number, now: Date, deadline: Date): number {
  if (now.getTime() + askedMs > deadline.getTime()) return 0;
  return tries <= 1 ? Math.min(askedMs, FIRST_RETRY_WITHIN_MS) : askedMs;
}

/**
 * When the directory is asked again for one that had no receiver, after so many tries: after 1, 2, 4, … hours and at the
 * deadline, which may be long after the last of these. Null where that is over.
 */
export function nextLookForReceiver(tries: number, now: Date, deadline: Date, random: () => number): Date | null {
  if (now >= deadline) return null;
  const pause = NO_RECEIVER_PAUSE_MS * (0.75 + random() * 0.5) * 2 ** Math.min(tries - 1, 5);
  return new Date(Math.min(now.getTime() + pause, deadline.getTime()));
}
