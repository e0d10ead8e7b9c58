import { canTransition, EMISSION_STATES } from '@ecf/domain';
import type { Attempt, PastSubmission } from './attempt.js';

/**
 * Limits of the submission history that is kept with an attempt: the first entries and the latest. Without them, a
 * number that is rejected and submitted again and again would make each row longer. The others are in the rows of
 * their own attempts.
 */
const [FIRST, LATEST] = [10, 40];

/** The history with one more submission, the newest. */
export function addSubmission(past: readonly PastSubmission[], submission: PastSubmission): PastSubmission[] {
  const all = [...past, submission];
  const gap = all.length - LATEST;
  const resumes = all[gap];
  if (gap <= FIRST || resumes === undefined) return all;
  const omittedBefore = submissionsIn(all.slice(FIRST, gap)) + (resumes.omittedBefore ?? 0);
  return [...all.slice(0, FIRST), { ...resumes, omittedBefore }, ...all.slice(gap + 1)];
}

/** The history without a copy that is the present submission again. An entry that notes omitted ones stays. */
export function withoutSubmission(past: readonly PastSubmission[], trackId: string): readonly PastSubmission[] {
  const others = past.filter((one) => one.trackId !== trackId || one.omittedBefore !== undefined);
  return others.length === past.length ? past : others;
}

/** Whether the submission cannot be a copy of the attempt that arrived: it is of an earlier attempt, or the authority decided it. */
export function hasEnded(submission: PastSubmission, { attempt }: Pick<Attempt, 'attempt'>): boolean {
  return submission.attempt !== attempt || EMISSION_STATES[submission.state].decided;
}

/** Whether the attempt keeps the whole submission history of its number. */
export function isHistoryComplete(past: readonly PastSubmission[]): boolean {
  return past.every(({ omittedBefore }) => omittedBefore === undefined);
}

/** The latest submissions without a gap, and the number of earlier ones. */
export function latestSubmissions(past: readonly PastSubmission[]): {
  latest: readonly PastSubmission[];
  omitted: number;
} {
  const resumes = past.findLastIndex(({ omittedBefore }) => omittedBefore !== undefined);
  if (resumes < 0) return { latest: past, omitted: 0 };
  const omitted = submissionsIn(past.slice(0, resumes)) + (past[resumes]?.omittedBefore ?? 0);
  return { latest: past.slice(resumes), omitted };
}

/** Earlier copies of the attempt itself, which were refused as repeats or given up. */
export function copiesOf({ attempt, past }: Pick<Attempt, 'attempt' | 'past'>): PastSubmission[] {
  return past.filter((one) => one.attempt === attempt).map(({ omittedBefore: _omitted, ...copy }) => copy);
}

/**
 * The attempt in its present state: as stored, or as it ended before a later attempt took the number. Nothing of a
 * later attempt is used.
 */
export function presentState(attempt: Attempt, found: Attempt | null): Attempt {
  if (found === null) return attempt;
  if (found.attempt === attempt.attempt) return found;
  // The history also has its copies. Only its end allowed a new attempt.
  const end = found.past.findLast((one) => one.attempt === attempt.attempt && canTransition(one.state, 'new-attempt'));
  if (end === undefined) return attempt;
  const { state, trackId, code, messages, sequenceUsed, dateReceived } = end;
  const verdict = { code, messages, sequenceUsed, dateReceived };
  return { ...attempt, state, trackId, verdict, owner: null, nextActionAt: null, alarm: null };
}

function submissionsIn(past: readonly PastSubmission[]): number {
  return past.reduce((sum, { omittedBefore = 0 }) => sum + omittedBefore + 1, 0);
}
