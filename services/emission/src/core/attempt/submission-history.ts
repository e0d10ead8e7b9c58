import { canTransition } from '@ecf/domain';
import type { Attempt, PastSubmission } from './attempt.js';

/**
 * How many submissions that are over stand with an attempt: the first ones of its number and the latest. A number that is
 * refused and handed in again without end would else make each of its rows longer than the one before. The others stand in
 * the rows of their own attempts.
 */
const [FIRST, LATEST] = [10, 40];

/** The past of an attempt with one more submission, the newest. */
export function addSubmission(past: readonly PastSubmission[], submission: PastSubmission): PastSubmission[] {
  const all = [...past, submission];
  const gap = all.length - LATEST;
  const resumes = all[gap];
  if (gap <= FIRST || resumes === undefined) return all;
  const omittedBefore = submissionsIn(all.slice(FIRST, gap)) + (resumes.omittedBefore ?? 0);
  return [...all.slice(0, FIRST), { ...resumes, omittedBefore }, ...all.slice(gap + 1)];
}

/** Whether every submission of the number stands with the attempt. */
export function isWholePast(past: readonly PastSubmission[]): boolean {
  return past.every(({ omittedBefore }) => omittedBefore === undefined);
}

/** The latest submissions without a gap, and how many there were before. */
export function latestPast(past: readonly PastSubmission[]): { latest: readonly PastSubmission[]; omitted: number } {
  const resumes = past.findLastIndex(({ omittedBefore }) => omittedBefore !== undefined);
  if (resumes < 0) return { latest: past, omitted: 0 };
  const omitted = submissionsIn(past.slice(0, resumes)) + (past[resumes]?.omittedBefore ?? 0);
  return { latest: past.slice(resumes), omitted };
}

/** Copies of the attempt itself that are over: refused as repeats, or given up on. */
export function copiesOf({ attempt, past }: Pick<Attempt, 'attempt' | 'past'>): PastSubmission[] {
  return past.filter((one) => one.attempt === attempt).map(({ omittedBefore: _omitted, ...copy }) => copy);
}

/**
 * An attempt by what is found under its number now: as it stands, or as it ended where the number went to a later attempt
 * since. What is not told of its end leaves it as it was; nothing of a later attempt is ever taken for it.
 */
export function asFound(attempt: Attempt, found: Attempt | null): Attempt {
  if (found === null) return attempt;
  if (found.attempt === attempt.attempt) return found;
  // Its copies stand there too; only its end left the number to another.
  const end = found.past.findLast((one) => one.attempt === attempt.attempt && canTransition(one.state, 'new-attempt'));
  if (end === undefined) return attempt;
  const { state, trackId, code, messages, sequenceUsed, dateReceived } = end;
  const verdict = { code, messages, sequenceUsed, dateReceived };
  return { ...attempt, state, trackId, verdict, owner: null, nextActionAt: null, alarm: null };
}

/** What was withdrawn never went out. */
function submissionsIn(past: readonly PastSubmission[]): number {
  return past.reduce((sum, { state, omittedBefore = 0 }) => sum + omittedBefore + (state === 'withdrawn' ? 0 : 1), 0);
}
