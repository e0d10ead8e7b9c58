export interface QueuePlaces {
  readonly all: number;
  readonly perSender: number;
}

interface Waiting<T> {
  readonly item: T;
  readonly cost: number;
  /** When its turn is, in cost that was served. */
  readonly due: number;
  /** Whether it keeps its place whoever comes. */
  readonly firm: boolean;
}

/**
 * A bounded queue in which senders share what is served by its cost, not by its number: who sends what costs much waits for
 * those who send little, not they for it. Each may hold a share of the places; where all are taken, the latest of whoever
 * waits with the most gives way to one who waits with less.
 */
export class FairQueue<T> {
  /** In the order of their first arrival. None is empty. */
  readonly #bySender = new Map<string, Waiting<T>[]>();
  /** Up to when each sender has had its share, where that is still to come. */
  readonly #servedUntil = new Map<string, number>();
  #clock = 0;
  #size = 0;

  constructor(private readonly places: QueuePlaces) {}

  get size(): number {
    return this.#size;
  }

  /**
   * Null where there is a place; else who has none: the newcomer, or one that gave way to it.
   * @param cost in any unit, the same for all, over 0
   */
  add(sender: string, item: T, cost: number): T | null {
    const items = this.#bySender.get(sender) ?? [];
    if (items.length >= this.places.perSender) return item;
    const displaced = this.#size < this.places.all ? null : this.#giveWay(costOf(items) + cost);
    if (displaced === null && this.#size >= this.places.all) return item;
    const due = Math.max(this.#clock, this.#servedUntil.get(sender) ?? 0) + cost;
    items.push({ item, cost, due, firm: false });
    this.#bySender.set(sender, items);
    this.#servedUntil.set(sender, due);
    this.#size++;
    return displaced;
  }

  /** Puts what goes on with something begun before all else of its sender, whatever the places. It never gives way. */
  addFirst(sender: string, item: T, cost: number): void {
    const others = this.#bySender.get(sender) ?? [];
    const until = Math.max(this.#clock, this.#servedUntil.get(sender) ?? 0) + cost;
    const due = others[0]?.due ?? until;
    const later = others.map((other) => ({ ...other, due: other.due + cost }));
    this.#bySender.set(sender, [{ item, cost, due, firm: true }, ...later]);
    this.#servedUntil.set(sender, until);
    this.#size++;
  }

  /** The next one, of the sender who has had the least. */
  next(): T | undefined {
    let earliest: readonly [string, Waiting<T>] | null = null;
    for (const [sender, [first]] of this.#bySender) {
      if (first !== undefined && (earliest === null || first.due < earliest[1].due)) earliest = [sender, first];
    }
    if (earliest === null) return undefined;
    const [sender, { item, cost }] = earliest;
    this.#clock += cost / this.#bySender.size;
    this.#removed(sender, this.#bySender.get(sender)?.slice(1) ?? []);
    return item;
  }

  /** Takes the latest of whoever waits with the most, where that is more than `least`. */
  #giveWay(least: number): T | null {
    let heaviest: string | null = null;
    let most = least;
    for (const [sender, items] of this.#bySender) {
      const cost = costOf(items);
      // What is firm stands before what is not.
      if (cost > most && items.at(-1)?.firm === false) [heaviest, most] = [sender, cost];
    }
    const items = heaviest === null ? undefined : this.#bySender.get(heaviest);
    const latest = items?.at(-1);
    if (heaviest === null || items === undefined || latest === undefined) return null;
    this.#servedUntil.set(heaviest, latest.due - latest.cost);
    this.#removed(heaviest, items.slice(0, -1));
    return latest.item;
  }

  #removed(sender: string, left: Waiting<T>[]): void {
    this.#size--;
    if (left.length > 0) this.#bySender.set(sender, left);
    else this.#bySender.delete(sender);
    for (const [served, until] of this.#servedUntil) if (until <= this.#clock) this.#servedUntil.delete(served);
    if (this.#size === 0) this.#servedUntil.clear();
  }
}

function costOf<T>(items: readonly Waiting<T>[]): number {
  return items.reduce((sum, { cost }) => sum + cost, 0);
}
