const CEILING_MS = 3_600_000;
/** Without an answer nothing is learned about the document, only about the authority: that is asked again within a minute. */
const UNANSWERED_CEILING_MS = 60_000;

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** Past this age an undecided submission raises an alarm; it is asked for all the same. Source: contingency rule of 72 hours. */
export const OVERDUE_MS = 72 * CEILING_MS;

/**
 * Milliseconds to the next question: `firstMs` after the submission, then doubling with each answer that leaves it open to
 * a ceiling of one hour, with jitter of a quarter to either side (downwards only at the ceiling). It never ends.
 *
 * @param tries questions that were answered so far
 */
export function pollDelay(tries: number, firstMs: number, random: Random): number {
  return jittered(firstMs * 2 ** Math.min(tries, 30), CEILING_MS, random);
}

/**
 * Milliseconds to the next question after one that was not answered: the same growth to a ceiling of one minute.
 *
 * @param failures questions in a row without an answer, at least 1
 */
export function retryDelay(failures: number, firstMs: number, random: Random): number {
  return jittered(firstMs * 2 ** Math.min(failures - 1, 30), UNANSWERED_CEILING_MS, random);
}

/** When a submission is asked for first: not before the authority's usual processing time has passed. */
export function firstDue(submittedAt: Date, now: Date, firstMs: number, random: Random): Date {
  return new Date(Math.max(submittedAt.getTime() + pollDelay(0, firstMs, random), now.getTime()));
}

/**
 * When a decision is asked for again that emission has not heard: after as long as the submission is old, an hour at most. Where
 * emission has only not read it yet, so few questions are spent on it, and none once it has.
 */
export function againDue(submittedAt: Date, now: Date, random: Random): Date {
  const ageMs = Math.max(now.getTime() - submittedAt.getTime(), 0);
  return new Date(now.getTime() + jittered(ageMs, CEILING_MS, random));
}

function jittered(ms: number, ceiling: number, random: Random): number {
  return Math.round(Math.min(Math.min(ms, ceiling) * (0.75 + random() * 0.5), ceiling));
}
