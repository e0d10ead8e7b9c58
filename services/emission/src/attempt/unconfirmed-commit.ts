import { StoreUnavailable } from '../errors.js';
import type { Ports } from '../ports.js';
import type { Attempt } from './attempt.js';
import { type AnswerPorts, moment } from './record-transition.js';
import { applyTransition } from './transitions.js';

const LOOK_AGAIN_MS = 200;
/** A hanging database may commit until its statement timeout. */
export const COMMITS_WITHIN_MS = 35_000;

/**
 * After an unconfirmed commit: when the database is back, a committed attempt becomes due as unsent, so it needs no
 * look-up. An attempt that another instance claimed, or that is held, stays unchanged.
 */
export function releaseUnconfirmed(ports: AnswerPorts, attempt: Attempt): void {
  lookForCommit(
    ports,
    async (mayCome) => {
      const found = await ports.emissions.find(attempt);
      if (mayCome && (found === null || found.attempt < attempt.attempt)) return false;
      if (found === null || !isUntouched(found, attempt)) return true;
      const unsent = applyTransition(found, 'not-reached', { owner: null, nextActionAt: moment(ports).now });
      return ports.emissions.save(found, unsent, []);
    },
    (error) => ports.observer.failed('releasing an unsent attempt', error, attempt),
  );
}

/**
 * Repeats `look` in the background until it returns true, also while the database is unavailable.
 *
 * @param look receives whether the commit may still happen
 * @param failed receives any other error, which ends the repetition
 */
export function lookForCommit(
  ports: Pick<Ports, 'sleep' | 'clock' | 'pending'>,
  look: (mayCome: boolean) => Promise<boolean>,
  failed: (error: unknown) => void,
): void {
  const until = ports.clock().getTime() + COMMITS_WITHIN_MS;
  const looking = async () => {
    for (let done = false; !done; ) {
      await ports.sleep(LOOK_AGAIN_MS);
      try {
        done = await look(ports.clock().getTime() < until);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    }
  };
  const work: Promise<void> = looking()
    .catch(failed)
    .finally(() => ports.pending.delete(work));
  ports.pending.add(work);
}

/** Whether the attempt is as it was committed, leased to the request that was to send it. */
function isUntouched(found: Attempt, attempt: Attempt): boolean {
  return (
    found.state === 'sending' &&
    found.emissionId === attempt.emissionId &&
    found.xml.sha256 === attempt.xml.sha256 &&
    found.attempt === attempt.attempt &&
    found.revision === attempt.revision &&
    found.owner === attempt.owner
  );
}
