import type { Attempt, PastSubmission } from './attempt.js';

/**
 * How many submissions that are over stand with an attempt: the first ones of its number and the latest. A number that is
 * refused and handed in again without end would else make each of its rows longer than the one before. The others stand in
 * the rows of their own attempts.
 */
const [FIRST, LATEST] = [10, 40];

/** The past of an attempt with one more submission, the newest. */
export function noteSubmission(past: readonly PastSubmission[], submission: PastSubmission): PastSubmission[] {
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

/** What was withdrawn never went out. */
function submissionsIn(past: readonly PastSubmission[]): number {
  return past.reduce((sum, { state, omittedBefore = 0 }) => sum + omittedBefore + (state === 'withdrawn' ? 0 : 1), 0);
}
