import type { Environment } from '@ecf/domain';

/** How fast an environment is asked; kept in the database, so that all instances together keep to it. */
export interface Pace {
  readonly env: Environment;
  /** Milliseconds since 1970 up to which questions were given out: each moves it on by the pause between two. */
  readonly readyAt: number;
  /** The authority asked for a pause, or does not answer. */
  readonly pausedUntil: Date | null;
}

/** Milliseconds by which a caller who waits may be served ahead of the rate; the background gives way for that. */
const AHEAD_MS = 1_000;

/** Milliseconds between two questions at a rate of questions a second. */
function intervalMs(rate: number): number {
  return 1_000 / rate;
}

/**
 * How many of `wanted` questions may be asked now. After a quiet time a tenth of a second's worth leaves at once, at least
 * one; over any longer time the rate is kept.
 */
export function questionsAllowed(pace: Pace, now: Date, rate: number, wanted: number): number {
  if (isPaused(pace, now)) return 0;
  const spentMs = Math.max(0, pace.readyAt - now.getTime());
  const allowed = Math.floor(burstOf(rate) - spentMs / intervalMs(rate) + 1e-6);
  return Math.max(0, Math.min(wanted, allowed));
}

/** Whether a caller who waits may be served now. */
export function mayAskAhead(pace: Pace, now: Date): boolean {
  return !isPaused(pace, now) && pace.readyAt <= now.getTime() + AHEAD_MS;
}

/** The pace after `asked` questions. */
export function afterQuestions(pace: Pace, now: Date, rate: number, asked: number): number {
  return Math.max(pace.readyAt, now.getTime()) + asked * intervalMs(rate);
}

/** The earliest moment at which the background may ask again, in milliseconds since 1970. */
export function nextTurn(pace: Pace, rate: number): number {
  const ready = Math.ceil(pace.readyAt - (burstOf(rate) - 1) * intervalMs(rate));
  return Math.max(ready, pace.pausedUntil?.getTime() ?? 0);
}

function burstOf(rate: number): number {
  return Math.max(1, Math.ceil(rate / 10));
}

function isPaused({ pausedUntil }: Pace, now: Date): boolean {
  return pausedUntil !== null && pausedUntil > now;
}
