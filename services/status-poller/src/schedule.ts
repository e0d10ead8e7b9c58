import { LONGEST_RETRY_DELAY_MS, retryDelay } from '@ecf/domain';

/** A missing answer says nothing about the document, so the next query follows within a minute. */
const LONGEST_UNANSWERED_MS = 60_000;

/** A number from 0 (included) to 1 (excluded). */
export type Random = () => number;

/** An undecided submission of this age raises an alarm; its queries continue. Source: contingency rule of 72 hours. */
export const OVERDUE_MS = 72 * LONGEST_RETRY_DELAY_MS;

/**
 * Milliseconds to the next query: `firstMs` after the submission, then doubled by each undecided answer, at most one hour, with
 * the jitter of {@link retryDelay}. The queries never end.
 *
 * @param tries answered queries so far
 */
export function pollDelay(tries: number, firstMs: number, random: Random): number {
  return retryDelay(tries + 1, firstMs, random);
}

/**
 * Milliseconds to the next query after one without an answer: the same growth, at most one minute.
 *
 * @param failures queries in a row without an answer, at least 1
 */
export function unansweredDelay(failures: number, firstMs: number, random: Random): number {
  return retryDelay(failures, firstMs, random, LONGEST_UNANSWERED_MS);
}

/** Time of the first query of a submission: after the authority's usual processing time. */
export function firstDue(submittedAt: Date, now: Date, firstMs: number, random: Random): Date {
  return new Date(Math.max(submittedAt.getTime() + pollDelay(0, firstMs, random), now.getTime()));
}

/**
 * Time of the query that repeats a decision which emission lacks: after a pause as long as the submission is old, at
 * most an hour. If emission is only late, this costs few queries, and none after it has read the event.
 */
export function againDue(submittedAt: Date, now: Date, random: Random): Date {
  const ageMs = Math.max(now.getTime() - submittedAt.getTime(), 0);
  return new Date(now.getTime() + retryDelay(1, ageMs, random));
}
