import { type Environment, LONGEST_RETRY_DELAY_MS, retryDelay } from '@ecf/domain';

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

/** The pace of queries to an environment. It is stored in the database, so that all instances share it. */
export interface Pace {
  readonly env: Environment;
  /** Milliseconds since 1970 up to which queries are reserved: each query adds the interval between two. */
  readonly readyAt: number;
  /** Set when the authority requests a pause, or does not answer. */
  readonly pausedUntil: Date | null;
}

/** Milliseconds by which a waiting caller may run ahead of the rate; the background waits longer then. */
const AHEAD_MS = 1_000;

/** Milliseconds between two queries at a rate of queries a second. */
function intervalMs(rate: number): number {
  return 1_000 / rate;
}

/**
 * The number of queries that may start now, at most `wanted`. After a quiet time, the queries of a tenth of a second, at
 * least one, may start immediately. Over any longer time the rate is kept.
 */
export function queriesAllowed(pace: Pace, now: Date, rate: number, wanted: number): number {
  if (isPaused(pace, now)) return 0;
  const spentMs = Math.max(0, pace.readyAt - now.getTime());
  const allowed = Math.floor(burstOf(rate) - spentMs / intervalMs(rate) + 1e-6);
  return Math.max(0, Math.min(wanted, allowed));
}

/** Whether a query of a waiting caller may start now. */
export function mayQueryAhead(pace: Pace, now: Date): boolean {
  return !isPaused(pace, now) && pace.readyAt <= now.getTime() + AHEAD_MS;
}

/** The pace after `count` queries. */
export function afterQueries(pace: Pace, now: Date, rate: number, count: number): number {
  return Math.max(pace.readyAt, now.getTime()) + count * intervalMs(rate);
}

/** The pace without reservations that are later than claims and callers can cause at this rate: a wrong clock stored them. */
export function credible(pace: Pace, now: Date, rate: number): Pace {
  const latest = now.getTime() + AHEAD_MS + burstOf(rate) * intervalMs(rate);
  return pace.readyAt > latest ? { ...pace, readyAt: now.getTime() } : pace;
}

/** The earliest time of the next background query, in milliseconds since 1970. */
export function nextQueryAt(pace: Pace, rate: number): number {
  const ready = Math.ceil(pace.readyAt - (burstOf(rate) - 1) * intervalMs(rate));
  return Math.max(ready, pace.pausedUntil?.getTime() ?? 0);
}

function burstOf(rate: number): number {
  return Math.max(1, Math.ceil(rate / 10));
}

function isPaused({ pausedUntil }: Pace, now: Date): boolean {
  return pausedUntil !== null && pausedUntil > now;
}
