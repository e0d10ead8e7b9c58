import { FairQueue } from '@ecf/service-kit/http';
import { EmissionError } from '../errors.js';

/** Heavy work, one piece at a time; accounts that wait take turns, whatever each of them asks for. */
export interface AccountTurns {
  /**
   * Does the work when its account's turn comes. Rejects with what the work throws.
   * @throws EmissionError `service_unavailable`, with a pause to keep, where too much waits already, at once or later in favour of
   * another account; nothing was done
   */
  begin<T>(accountId: string, work: () => Promise<T>): Promise<T>;
  /** The same for the next step of something begun: it goes before what its account begins, and is never turned away. */
  goOn<T>(accountId: string, work: () => Promise<T>): Promise<T>;
}

export interface WaitingPlaces {
  readonly all: number;
  readonly perAccount: number;
}

/** Some pieces of work are over by then. */
const RETRY_AFTER_SECONDS = 5;

/** Somebody who waits. */
interface Waiting {
  start(): void;
  turnAway(error: EmissionError): void;
}

/** All pieces count the same: what one costs is not known before. */
const COST = 1;

/** Accounts share as {@link FairQueue} says: however many places few of them fill, others find one. */
export function createAccountTurns(places: WaitingPlaces): AccountTurns {
  const waiting = new FairQueue<Waiting>({ all: places.all, perSender: places.perAccount });
  let busy = false;

  function queue(accountId: string, piece: Waiting, begun: boolean): void {
    const whose = waiting.size < places.all ? 'Too many of your' : 'Too many';
    if (begun) waiting.addFirst(accountId, piece, COST);
    else waiting.add(accountId, piece, COST)?.turnAway(tooMany(whose));
  }

  async function take<T>(accountId: string, work: () => Promise<T>, begun: boolean): Promise<T> {
    if (busy) await new Promise<void>((start, turnAway) => queue(accountId, { start, turnAway }, begun));
    busy = true;
    try {
      return await work();
    } finally {
      releaseUnconfirmed();
    }
  }

  /** It stays busy where somebody waits: nobody gets in between. */
  function releaseUnconfirmed(): void {
    const next = waiting.next();
    busy = next !== undefined;
    next?.start();
  }

  return {
    begin: (accountId, work) => take(accountId, work, false),
    goOn: (accountId, work) => take(accountId, work, true),
  };
}

/** What is refused where too much is at work already. */
export function tooMany(whose: 'Too many' | 'Too many of your'): EmissionError {
  return new EmissionError(
    'service_unavailable',
    `${whose} large requests wait already; nothing was done with this one. Send it again shortly, one after the other.`,
    { retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
}
