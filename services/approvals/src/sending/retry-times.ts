/**
 * The first retry comes within a minute, whatever pause a receiver asks for. The rest of that minute is for the poll that
 * finds it due.
 */
export const FIRST_RETRY_WITHIN_MS = 55_000;
/** A receiver rarely appears within minutes, so the directory is queried hourly at most. */
const NO_RECEIVER_PAUSE_MS = 3_600_000;
const DOUBLED = 5;
/** The longest pause between two directory queries: the jitter adds a quarter, and others' deliveries up to ten minutes. */
export const LONGEST_LOOK_UP_PAUSE_MS = NO_RECEIVER_PAUSE_MS * 1.25 * 2 ** DOUBLED + 600_000;

/**
 * The milliseconds of a requested pause (Retry-After) that are obeyed after `tries` tries. A pause that ends after the
 * deadline is not obeyed, because no try would be left.
 */
export function obeyedPause(requestedMs: number, tries: number, now: Date, deadline: Date): number {
  if (now.getTime() + requestedMs > deadline.getTime()) return 0;
  return tries <= 1 ? Math.min(requestedMs, FIRST_RETRY_WITHIN_MS) : requestedMs;
}

/**
 * The time of the next directory query for a missing receiver, after `tries` queries: after 1, 2, 4, … hours and at the
 * deadline. Null after the deadline.
 */
export function nextLookUp(tries: number, now: Date, deadline: Date, random: () => number): Date | null {
  if (now >= deadline) return null;
  const pause = NO_RECEIVER_PAUSE_MS * (0.75 + random() * 0.5) * 2 ** Math.min(tries - 1, DOUBLED);
  return new Date(Math.min(now.getTime() + pause, deadline.getTime()));
}
