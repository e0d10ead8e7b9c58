import { type Attempt, type DocumentKey, documentKey } from './attempt.js';
import { StoreUnavailable } from './errors.js';
import type { Ports } from './ports.js';
import { moved } from './progress.js';
import { moment } from './record.js';

const LOOK_AGAIN_MS = 200;

type WithdrawalPorts = Pick<
  Ports,
  'emissions' | 'observer' | 'sleep' | 'clock' | 'random' | 'settings' | 'pending' | 'withdrawals'
>;

/**
 * The database went away while it committed: the caller is told that nothing was consumed, so an attempt that was
 * committed all the same is withdrawn once the database is back. Nothing of it was sent. Where somebody was told meanwhile
 * that it is under way ({@link toldToRepeat}), it is sent instead.
 */
export function withdrawLater(ports: WithdrawalPorts, attempt: Attempt): void {
  const key = documentKey(attempt);
  const work: Promise<void> = withdraw(ports, attempt)
    .catch((error) => ports.observer.failed('withdrawing an unsent attempt', error, attempt))
    .finally(() => {
      ports.pending.delete(work);
      if (ports.withdrawals.get(key) === work) ports.withdrawals.delete(key);
    });
  ports.pending.add(work);
  ports.withdrawals.set(key, work);
}

async function withdraw(ports: WithdrawalPorts, attempt: Attempt): Promise<void> {
  for (;;) {
    await ports.sleep(LOOK_AGAIN_MS);
    try {
      const found = await ports.emissions.find(attempt);
      const after = found === null ? null : undone(ports, found, attempt);
      if (found === null || after === null || (await ports.emissions.save(found, after, []))) return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
}

/** What becomes of the attempt as it is found; null where it is none of ours, or another has taken it up. */
function undone(ports: WithdrawalPorts, found: Attempt, attempt: Attempt): Attempt | null {
  const ours = found.attempt === attempt.attempt && found.xml.sha256 === attempt.xml.sha256;
  if (!ours || found.owner !== attempt.owner || found.state !== attempt.state) return null;
  const isTold = found.revision !== attempt.revision;
  if (found.state === 'held') return isTold ? null : moved(found, 'withdraw', {});
  const unsent = moved(found, 'not-reached', { owner: null, nextActionAt: moment(ports).now });
  return { ...(isTold ? unsent : moved(unsent, 'withdraw', {})), revision: found.revision + 1 };
}

/**
 * Waits until no attempt under the number is being withdrawn by this process, so that nobody takes it for one that is under
 * way. Throws StoreUnavailable where that takes longer than a request waits for the database.
 */
export async function withdrawn(
  ports: Pick<Ports, 'withdrawals' | 'settings' | 'sleep'>,
  key: DocumentKey,
): Promise<void> {
  const under = ports.withdrawals.get(documentKey(key));
  if (under === undefined) return;
  const isOver = await Promise.race([
    under.then(() => true),
    ports.sleep(ports.settings.databasePatienceMs).then(() => false),
  ]);
  if (!isOver) throw new StoreUnavailable(new Error('an attempt under the number is still being withdrawn'));
}

/**
 * What a repeat may be told. Null where its attempt was withdrawn: the number is free, and the request begins anew. An
 * attempt of which nothing was sent yet may be one whose commit was not confirmed, in another process; a raised revision
 * says that somebody relies on it from now on.
 */
export async function toldToRepeat(ports: Pick<Ports, 'emissions'>, attempt: Attempt): Promise<Attempt | null> {
  for (let present: Attempt | null = attempt; present !== null; ) {
    if (present.attempt !== attempt.attempt || present.state === 'withdrawn') return null;
    if (present.state !== 'sending' && present.state !== 'held') return present;
    const told: Attempt = moved(present, null, {});
    if (await ports.emissions.save(present, told, [])) return told;
    present = await ports.emissions.find(present);
  }
  return null;
}
