export interface QueuePlaces {
  readonly all: number;
  readonly perSender: number;
}

/**
 * A bounded queue that serves senders in turn. Each may hold a share of the places; where all are taken, the latest of
 * whoever holds the most gives way to one who holds less.
 */
export class FairQueue<T> {
  /** In the order in which their turns come. None is empty. */
  readonly #bySender = new Map<string, T[]>();
  #size = 0;

  constructor(private readonly places: QueuePlaces) {}

  get size(): number {
    return this.#size;
  }

  /** Null where there is a place; else who has none: the newcomer, or one that gave way to it. */
  add(sender: string, item: T): T | null {
    const own = this.#bySender.get(sender)?.length ?? 0;
    if (own >= this.places.perSender) return item;
    const displaced = this.#size < this.places.all ? null : this.#giveWay(own + 1);
    if (displaced === null && this.#size >= this.places.all) return item;
    const items = this.#bySender.get(sender) ?? [];
    items.push(item);
    this.#bySender.set(sender, items);
    this.#size++;
    return displaced;
  }

  /** The next one of the sender whose turn it is; its next turn comes after those of all others. */
  next(): T | undefined {
    const first = this.#bySender.entries().next();
    if (first.done) return undefined;
    const [sender, items] = first.value;
    this.#bySender.delete(sender);
    const item = items.shift();
    if (items.length > 0) this.#bySender.set(sender, items);
    this.#size--;
    return item;
  }

  /** Takes the latest of whoever holds the most, where that is more than `least`. */
  #giveWay(least: number): T | null {
    let longest: T[] = [];
    for (const items of this.#bySender.values()) if (items.length > longest.length) longest = items;
    if (longest.length <= least) return null;
    this.#size--;
    return longest.pop() as T;
  }
}
