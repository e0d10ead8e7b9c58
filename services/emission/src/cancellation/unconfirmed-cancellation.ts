import { merged } from '@ecf/domain/number-set';
import { lookForCommit } from '../attempt/unconfirmed-commit.js';
import { CommitUnconfirmed, StoreUnavailable } from '../errors.js';
import { type Cancellation, rangesOf } from './cancellation.js';
import type { CancellationPorts } from './cancellation-ports.js';

/** A request to send a cancellation. */
export type RequestedSend = Pick<Cancellation, 'env' | 'issuerRnc' | 'contentHash' | 'lines'> & {
  readonly requestedAt: Date;
};

/** Whether the cancellation is as that request committed it, unsent and not claimed. */
export function isUnsent(
  found: Cancellation,
  { contentHash, requestedAt }: Pick<RequestedSend, 'contentHash' | 'requestedAt'>,
): boolean {
  return (
    found.state === 'sending' &&
    found.sentAt === null &&
    found.contentHash === contentHash &&
    found.requestedAt?.getTime() === requestedAt.getTime()
  );
}

/**
 * Runs the commit of a cancellation that is to be sent. If the database becomes unavailable, the cancellation may still be
 * committed. Then it becomes due as unsent when the database is back.
 *
 * @throws CommitUnconfirmed
 */
export async function committing<T>(
  ports: CancellationPorts,
  requested: RequestedSend,
  commit: () => Promise<T>,
): Promise<T> {
  try {
    return await commit();
  } catch (error) {
    if (!(error instanceof StoreUnavailable) || error.refused) throw error;
    lookForCommit(
      ports,
      (mayCome) => release(ports, requested, mayCome),
      (failure) => ports.cancellationObserver.failed('releasing an unsent cancellation', failure),
    );
    throw new CommitUnconfirmed(
      'The database became unavailable while it stored the cancellation, so the cancellation may be in progress. Repeat the very same request. If it is in progress, you get 409 encf_in_use with its id, and GET /anecf/ with that id shows its outcome.',
      error,
    );
  }
}

async function release(ports: CancellationPorts, requested: RequestedSend, mayCome: boolean): Promise<boolean> {
  const { env, issuerRnc, lines } = requested;
  const taken = await ports.cancellations.taken({ env, issuerRnc, ranges: merged(rangesOf(lines)) });
  if (taken === null) return !mayCome;
  for (const id of new Set(taken.cancelled.map(({ by }) => by))) {
    const found = await ports.cancellations.find(id);
    if (found === null || !isUnsent(found, requested)) continue;
    await ports.cancellations.record(found, { ...found, state: 'failed', nextActionAt: ports.clock() });
  }
  return true;
}
