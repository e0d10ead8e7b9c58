import { lookForCommit } from '../attempt/unconfirmed-commit.js';
import { CommitUnconfirmed, StoreUnavailable } from '../errors.js';
import { type Cancellation, rangesOf } from './cancellation.js';
import type { CancellationPorts } from './cancellation-ports.js';
import { merged } from './number-set.js';

/** A cancellation as a call asked for it to be sent. */
export type Asked = Pick<Cancellation, 'env' | 'issuerRnc' | 'contentHash' | 'lines'> & { readonly askedAt: Date };

/** Whether it stands as that call committed it, nothing of it sent and nobody else at it. */
export function isUnsent(
  found: Cancellation,
  { contentHash, askedAt }: Pick<Asked, 'contentHash' | 'askedAt'>,
): boolean {
  return (
    found.state === 'sending' &&
    found.sentAt === null &&
    found.contentHash === contentHash &&
    found.askedAt?.getTime() === askedAt.getTime()
  );
}

/**
 * Runs what commits a cancellation that is to be sent. Where the database goes away meanwhile it may be committed all the
 * same: then it goes to the background as one of which nothing was sent, once the database is back.
 *
 * @throws CommitUnconfirmed
 */
export async function committing<T>(ports: CancellationPorts, asked: Asked, commit: () => Promise<T>): Promise<T> {
  try {
    return await commit();
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    lookForCommit(
      ports,
      (mayCome) => release(ports, asked, mayCome),
      (failure) => ports.cancellationObserver.failed('handing over an unsent cancellation', failure),
    );
    throw new CommitUnconfirmed(
      'The database of this service went away while it stored the cancellation, which may be under way. Repeat the very same request: where it is, you get 409 encf_in_use with the id of the cancellation, and GET /anecf/ with that id says what became of it.',
      error,
    );
  }
}

async function release(ports: CancellationPorts, asked: Asked, mayCome: boolean): Promise<boolean> {
  const { env, issuerRnc, lines } = asked;
  const taken = await ports.cancellations.taken({ env, issuerRnc, ranges: merged(rangesOf(lines)) });
  if (taken === null) return !mayCome;
  for (const id of new Set(taken.cancelled.map(({ by }) => by))) {
    const found = await ports.cancellations.find(id);
    if (found === null || !isUnsent(found, asked)) continue;
    await ports.cancellations.record(found, { ...found, state: 'failed', nextActionAt: ports.clock() });
  }
  return true;
}
