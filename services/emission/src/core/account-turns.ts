import { EmissionError } from './errors.js';

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

/** Somebody who waits; the next step of something begun cannot be turned away. */
interface Waiting {
  start(): void;
  readonly turnAway: ((error: EmissionError) => void) | null;
}

/**
 * Each account holds a share of the places; where all are taken, the latest piece of the account that waits with most gives
 * way to an account with less, so that however many places few accounts fill, others find one.
 */
export function createAccountTurns(places: WaitingPlaces): AccountTurns {
  /** Whoever waits, by account; the account whose turn is next comes first. None is empty. */
  const waiting = new Map<string, Waiting[]>();
  let busy = false;

  function requirePlace(accountId: string): void {
    const own = waiting.get(accountId)?.length ?? 0;
    if (own >= places.perAccount) throw tooMany('Too many of your');
    const all = [...waiting.values()].reduce((sum, { length }) => sum + length, 0);
    if (all >= places.all && !giveWay(own + 1)) throw tooMany('Too many');
  }

  /** Turns away the latest piece of whoever waits with most, where that is more than `least`. */
  function giveWay(least: number): boolean {
    const heaviest = [...waiting.values()]
      // What is to go on stands before what is to begin.
      .filter((pieces) => pieces.length > least && pieces.at(-1)?.turnAway !== null)
      .reduce<Waiting[]>((most, pieces) => (pieces.length > most.length ? pieces : most), []);
    const latest = heaviest.pop();
    latest?.turnAway?.(tooMany('Too many'));
    return latest !== undefined;
  }

  async function take<T>(accountId: string, work: () => Promise<T>, begun: boolean): Promise<T> {
    if (busy) {
      if (!begun) requirePlace(accountId);
      await new Promise<void>((resolve, reject) => {
        const own = waiting.get(accountId) ?? [];
        if (begun) own.unshift({ start: resolve, turnAway: null });
        else own.push({ start: resolve, turnAway: reject });
        waiting.set(accountId, own);
      });
    }
    busy = true;
    try {
      return await work();
    } finally {
      handOver();
    }
  }

  /** It stays busy where somebody waits: nobody gets in between. */
  function handOver(): void {
    const [next] = waiting;
    busy = next !== undefined;
    if (next === undefined) return;
    const [accountId, [first, ...others]] = next;
    waiting.delete(accountId);
    if (others.length > 0) waiting.set(accountId, others);
    first?.start();
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
