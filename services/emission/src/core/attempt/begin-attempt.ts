import { transition } from '@ecf/domain';
import { type Attempt, type NewAttempt, NO_VERDICT } from './attempt.js';
import { type Moment, pastOf } from './moves.js';
import { noteSubmission } from './past-submissions.js';
import { retryDelay } from './retry-schedule.js';

/**
 * The attempt as it is committed before the first byte goes out: under way, in the care of `owner`, or held until the
 * document it refers to is accepted.
 *
 * @param previous the decided attempt before it under the same number, null for the first
 * @param emissionId of a number that has none yet
 */
export function beginAttempt(
  fresh: NewAttempt,
  previous: Attempt | null,
  emissionId: number,
  moment: Moment,
  { owner, leaseMs, held }: { owner: string; leaseMs: number; held: boolean },
): Attempt {
  const committed = previous === null ? 'committed' : transition(previous.state, 'new-attempt');
  return {
    emissionId: previous?.emissionId ?? emissionId,
    createdAt: previous?.createdAt ?? moment.now,
    committedAt: moment.now,
    attempt: (previous?.attempt ?? 0) + 1,
    revision: (previous?.revision ?? 0) + 1,
    state: transition(committed, held ? 'hold' : 'send'),
    trackId: null,
    trackIdAdopted: false,
    statusRevision: 0,
    verdict: NO_VERDICT,
    submittedAt: held ? null : moment.now,
    lostSends: 0,
    transientRefusals: 0,
    notFoundSince: null,
    failures: 0,
    nextActionAt: new Date(
      moment.now.getTime() + (held ? retryDelay(1, moment.settings.firstRetryMs, moment.random) : leaseMs),
    ),
    owner: held ? null : owner,
    alarm: null,
    past: previous === null ? [] : noteSubmission(previous.past, pastOf(previous)),
    // At the end: V8 is slow, fifty microseconds here, at an object in which much follows a spread.
    ...fresh,
  };
}
