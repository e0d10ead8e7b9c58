/** A part of a limited resource that one holder may use. */
export interface Share {
  readonly holder: string;
  readonly most: number;
}

/** How much of a limited resource each holder uses in this process: requests in flight, bytes in memory. */
export interface Shares {
  /** Counts the amount for all holders. If one would exceed its share, counts nothing and returns the first such share. */
  take(shares: readonly Share[], amount: number): Share | null;
  free(shares: readonly Share[], amount: number): void;
  inUse(holder: string): number;
}

export function createShares(): Shares {
  const used = new Map<string, number>();
  const inUse = (holder: string): number => used.get(holder) ?? 0;

  function add(shares: readonly Share[], amount: number): void {
    for (const { holder } of shares) {
      const now = inUse(holder) + amount;
      if (now > 0) used.set(holder, now);
      else used.delete(holder);
    }
  }

  return {
    take(shares, amount) {
      const exceeded = shares.find(({ holder, most }) => inUse(holder) + amount > most) ?? null;
      if (exceeded === null) add(shares, amount);
      return exceeded;
    },
    free: (shares, amount) => add(shares, -amount),
    inUse,
  };
}
