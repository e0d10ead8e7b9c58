import { EmissionError } from './errors.js';

/** Heavy work, one piece at a time; accounts that wait take turns, whatever each of them asks for. */
export interface AccountTurns {
  /**
   * Does the work when its account's turn comes. Rejects with what the work throws.
   * @throws EmissionError `service_unavailable`, with a pause to keep, where too much waits already; nothing was done
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

export function createAccountTurns(places: WaitingPlaces): AccountTurns {
  /** Whoever waits, by account; the account whose turn is next comes first. None is empty. */
  const waiting = new Map<string, (() => void)[]>();
  let busy = false;

  function requirePlace(accountId: string): void {
    const own = waiting.get(accountId)?.length ?? 0;
    const all = [...waiting.values()].reduce((sum, { length }) => sum + length, 0);
    if (own < places.perAccount && all < places.all) return;
    const whose = own < places.perAccount ? 'Too many' : 'Too many of your';
    throw new EmissionError(
      'service_unavailable',
      `${whose} large requests wait already; nothing was done with this one. Send it again shortly, one after the other.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }

  async function take<T>(accountId: string, work: () => Promise<T>, begun: boolean): Promise<T> {
    if (busy) {
      if (!begun) requirePlace(accountId);
      await new Promise<void>((resolve) => {
        const own = waiting.get(accountId) ?? [];
        if (begun) own.unshift(resolve);
        else own.push(resolve);
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
    const [accountId, [start, ...others]] = next;
    waiting.delete(accountId);
    if (others.length > 0) waiting.set(accountId, others);
    start?.();
  }

  return {
    begin: (accountId, work) => take(accountId, work, false),
    goOn: (accountId, work) => take(accountId, work, true),
  };
}
