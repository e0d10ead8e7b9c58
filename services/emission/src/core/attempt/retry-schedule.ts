const CEILING_MS = 3_600_000;

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** Past this age an undecided document raises an alarm; work on it goes on. Source: contingency rule of 72 hours. */
export const OVERDUE_MS = 72 * 3_600_000;

export { retryDelay } from '@ecf/domain';

/**
 * Pause before the next question for the result of a document that has a trackId: `first` after the submission, then
 * doubling to one hour, with the same jitter.
 *
 * @param asked questions already answered with "in process" or not at all
 */
export function pollDelay(asked: number, firstMs: number, random: Random): number {
  const doubled = Math.max(firstMs, 1) * 2 ** Math.min(asked, 30);
  return Math.round(Math.min(Math.min(doubled, CEILING_MS) * (0.75 + random() * 0.5), CEILING_MS));
}

/** Pauses between questions while a caller waits: short at first, since the authority usually needs 200 ms. */
export function waitingDelay(asked: number): number {
  return Math.min(150 * 2 ** Math.min(asked, 3), 1_000);
}
