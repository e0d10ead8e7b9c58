import { StoreUnavailable } from '../errors.js';
import type { Ports } from '../ports.js';
import type { Attempt } from './attempt.js';
import { moment } from './record-transition.js';
import { applyTransition } from './transitions.js';

const LOOK_AGAIN_MS = 200;
/** A database that hangs may commit for as long as it lets a statement run. */
const COMMITS_WITHIN_MS = 35_000;

type HandOverPorts = Pick<Ports, 'emissions' | 'observer' | 'sleep' | 'clock' | 'random' | 'settings' | 'pending'>;

/**
 * The database went away while it committed an attempt, and the caller is told that it may be under way. Once the database
 * is back, what was committed all the same goes to the background as one of which nothing was sent, so that nobody has to
 * ask the authority about it first. Whoever took it up meanwhile keeps it; a held one waits for its original as ever.
 */
export function releaseUnconfirmed(ports: HandOverPorts, attempt: Attempt): void {
  lookForCommit(
    ports,
    async (mayCome) => {
      const found = await ports.emissions.find(attempt);
      if (mayCome && (found === null || found.attempt < attempt.attempt)) return false;
      if (found === null || !isUntouched(found, attempt)) return true;
      const unsent = applyTransition(found, 'not-reached', { owner: null, nextActionAt: moment(ports).now });
      return ports.emissions.save(found, unsent, []);
    },
    (error) => ports.observer.failed('handing over an unsent attempt', error, attempt),
  );
}

/**
 * Looks again and again for what a commit left that nobody confirmed, also while the database is away, until `look` says that
 * nothing is left to do; in the background.
 *
 * @param look told whether what is not there may still come
 * @param failed of what is no absence of the database: it ends the looking
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

/** Whether it stands as it was committed, in the care of the request that was to send it. */
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
