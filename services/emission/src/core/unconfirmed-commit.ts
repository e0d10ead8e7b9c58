import type { Attempt } from './attempt.js';
import { StoreUnavailable } from './errors.js';
import { moved } from './moves.js';
import type { Ports } from './ports.js';
import { moment } from './record.js';

const LOOK_AGAIN_MS = 200;
/** A database that hangs may commit for as long as it lets a statement run. */
export const COMMITS_WITHIN_MS = 35_000;

type HandOverPorts = Pick<Ports, 'emissions' | 'observer' | 'sleep' | 'clock' | 'random' | 'settings' | 'pending'>;

/**
 * The database went away while it committed an attempt, and the caller is told that it may be under way. Once the database
 * is back, what was committed all the same goes to the background as one of which nothing was sent, so that nobody has to
 * ask the authority about it first. Whoever took it up meanwhile keeps it; a held one waits for its original as ever.
 */
export function handOver(ports: HandOverPorts, attempt: Attempt): void {
  const work: Promise<void> = release(ports, attempt)
    .catch((error) => ports.observer.failed('handing over an unsent attempt', error, attempt))
    .finally(() => ports.pending.delete(work));
  ports.pending.add(work);
}

async function release(ports: HandOverPorts, attempt: Attempt): Promise<void> {
  const until = ports.clock().getTime() + COMMITS_WITHIN_MS;
  for (;;) {
    await ports.sleep(LOOK_AGAIN_MS);
    try {
      const found = await ports.emissions.find(attempt);
      const mayCome = (found === null || found.attempt < attempt.attempt) && ports.clock().getTime() < until;
      if (mayCome) continue;
      if (found === null || !isUntouched(found, attempt)) return;
      const unsent = moved(found, 'not-reached', { owner: null, nextActionAt: moment(ports).now });
      if (await ports.emissions.save(found, unsent, [])) return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

/** Whether it stands as it was committed, in the care of the request that was to send it. */
function isUntouched(found: Attempt, attempt: Attempt): boolean {
  return (
    found.state === 'sending' &&
    found.attempt === attempt.attempt &&
    found.revision === attempt.revision &&
    found.owner === attempt.owner
  );
}
