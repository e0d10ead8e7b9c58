export interface ShareBounds {
  readonly all: number;
  readonly perSender: number;
}

/** Part of everything that a sender may ask for and have slow ones of others give way. */
const MODEST = 1 / 64;

/**
 * What senders hold of something that they share. Each may hold half of what is left free beside it, and no more than
 * its bound: one alone a third of everything, `n` greedy ones a part in `n + 2` each. Whatever they take, two such parts stay
 * free for others, so that a few senders bar nobody from a small part.
 */
export class FairShare {
  readonly #bySender = new Map<string, number>();
  #total = 0;

  constructor(private readonly bounds: ShareBounds) {}

  get total(): number {
    return this.#total;
  }

  change(sender: string, by: number): void {
    const held = this.#of(sender) + by;
    this.#total += by;
    if (held > 0) this.#bySender.set(sender, held);
    else this.#bySender.delete(sender);
  }

  /** Why `more` would be too much: for its sender's bound, or beside all that others hold; null where it may be taken. */
  tooMuch(sender: string, more: number): 'sender' | 'all' | null {
    const wanted = this.#of(sender) + more;
    if (wanted > this.bounds.perSender) return 'sender';
    return 2 * wanted > this.bounds.all - this.#total - more ? 'all' : null;
  }

  /** Whether what `holder` is slow with goes before `sender` is refused `more`: one that holds much drives out nobody. */
  givesWay(holder: string, sender: string, more: number): boolean {
    if (holder === sender) return true;
    const wanted = this.#of(sender) + more;
    if (wanted > this.bounds.perSender) return false;
    return wanted <= this.bounds.all * MODEST || this.#of(holder) > wanted;
  }

  #of(sender: string): number {
    return this.#bySender.get(sender) ?? 0;
  }
}
