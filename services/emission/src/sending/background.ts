import { createDueWork, type DueWork } from '@ecf/postgres/due-work';
import type { Attempt } from '../attempt/attempt.js';
import { postponed } from '../attempt/transitions.js';
import type { FollowUp } from './follow-up.js';
import type { SendingPorts } from './ports.js';

/**
 * Follows up every attempt that is due: lost sends, sends that could not be made, held notes, and the attempts of an instance
 * that crashed. A request leases the attempt that it sends, so the attempt falls due only if the request does not finish.
 */
export function createBackground(
  { emissions, recorder, observer, clock, checkpoint }: SendingPorts,
  followUp: FollowUp,
  {
    owner,
    leaseMs,
    ...options
  }: {
    /** The name of this instance. */
    readonly owner: string;
    readonly leaseMs: number;
    /** Attempts in flight at the same time. */
    readonly concurrency: number;
    /** Longest pause in milliseconds between two queries of the database. */
    readonly idleMs: number;
  },
): DueWork<Attempt> {
  /** A failure counts, so that the pauses grow and the overdue alarm is raised. */
  async function handle(attempt: Attempt): Promise<void> {
    try {
      await followUp.advance(attempt);
    } catch (error) {
      observer.failed('following up a document', error, attempt);
      await recorder.record(attempt, (present) =>
        present.owner === owner && present.revision === attempt.revision ? postponed(present, recorder.timing()) : null,
      );
    }
  }

  return createDueWork<Attempt>({
    store: {
      async claimDue(request) {
        const claimed = await emissions.claimDue({ ...request, owner });
        if (claimed.length > 0) await checkpoint('claimed');
        return claimed;
      },
    },
    handle,
    onError: (error, attempt) =>
      observer.failed(
        attempt === undefined ? 'looking for documents that are due' : 'postponing a document',
        error,
        attempt,
      ),
    clock,
    leaseMs,
    ...options,
  });
}
