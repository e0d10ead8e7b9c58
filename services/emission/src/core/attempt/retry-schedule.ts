/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** Past this age an undecided document raises an alarm; work on it goes on. Source: contingency rule of 72 hours. */
export const OVERDUE_MS = 72 * 3_600_000;

export { retryDelay } from '@ecf/domain';

/** Pauses between questions while a caller waits: short at first, since the authority usually needs 200 ms. */
export function waitingDelay(asked: number): number {
  return Math.min(150 * 2 ** Math.min(asked, 3), 1_000);
}
