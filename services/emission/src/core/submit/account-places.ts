import { tooMany, type WaitingPlaces } from './account-turns.js';

/**
 * Room for what is large, taken before any of it is read: so many at once in all, and of one account. Once half is taken, an
 * account gets a single place, so that few accounts leave room for others.
 */
export interface AccountPlaces {
  /**
   * Takes a place; gives how to leave it, which may be called again.
   * @throws EmissionError `service_unavailable`, with a pause to keep, where none is free
   */
  take(accountId: string): () => void;
}

export function createAccountPlaces(places: WaitingPlaces): AccountPlaces {
  const taken = new Map<string, number>();
  let all = 0;

  function change(accountId: string, by: 1 | -1): void {
    const own = (taken.get(accountId) ?? 0) + by;
    all += by;
    if (own === 0) taken.delete(accountId);
    else taken.set(accountId, own);
  }

  return {
    take(accountId) {
      const most = all < places.all / 2 ? places.perAccount : 1;
      if ((taken.get(accountId) ?? 0) >= most) throw tooMany('Too many of your');
      if (all >= places.all) throw tooMany('Too many');
      change(accountId, 1);
      let held = true;
      return () => {
        if (held) change(accountId, -1);
        held = false;
      };
    },
  };
}
