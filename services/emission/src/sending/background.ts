import { createDueWork, type DueWork } from '@ecf/service-kit/due-work';
import type { Attempt } from '../attempt/attempt.js';
import { moment, recordTransition, type TransitionPorts } from '../attempt/record-transition.js';
import { postponed } from '../attempt/transitions.js';
import type { Ports } from '../ports.js';
import type { FollowUp } from './follow-up.js';

export interface BackgroundOptions {
  /** Attempts in flight at once. */
  readonly concurrency: number;
  /** Longest pause in milliseconds between two looks at the database. */
  readonly idleMs: number;
}

/**
 * Follows up every attempt that is due: lost sends, sends that could not be made, held notes, and the attempts of an instance
 * that crashed. A request leases the attempt that it sends, so the attempt falls due only if the request does not finish.
 */
export function createBackground(
  ports: TransitionPorts & Pick<Ports, 'owner' | 'checkpoint'>,
  followUp: FollowUp,
  { concurrency, idleMs }: BackgroundOptions,
): DueWork<Attempt> {
  const { owner, observer } = ports;

  /** A failure counts, so that the pauses grow and the overdue alarm is raised. */
  async function handle(attempt: Attempt): Promise<void> {
    try {
      await followUp.advance(attempt);
    } catch (error) {
      observer.failed('following up a document', error, attempt);
      await recordTransition(ports, attempt, (present) =>
        present.owner === owner && present.revision === attempt.revision ? postponed(present, moment(ports)) : null,
      );
    }
  }

  return createDueWork<Attempt>({
    store: {
      async claimDue(request) {
        const claimed = await ports.emissions.claimDue({ ...request, owner });
        if (claimed.length > 0) await ports.checkpoint('claimed');
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
    clock: ports.clock,
    leaseMs: ports.settings.leaseMs,
    idleMs,
    concurrency,
  });
}
