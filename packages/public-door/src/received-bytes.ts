import { ApiError } from '@ecf/service-kit/http';
import { LRUCache } from 'lru-cache';
import { budgetPeriod, type RefusalBudgets } from './refusal-budgets.js';
import type { SentBytes } from './refused-bytes.js';

const DAY_MS = 86_400_000;
/** What is claimed ahead of one sender, as a part of its day and at most: a claim costs a statement, most documents take none. */
const AHEAD = { part: 64, most: 1_024 * 1_024 };
/** Senders whose claims are remembered; what was claimed ahead of one that is forgotten is lost to it. */
const MOST_SENDERS = 10_000;

/** What was claimed of a sender's day and is not used yet. */
interface Claimed {
  readonly period: string;
  left: number;
  turn: Promise<void>;
}

/**
 * Bounds the bytes of documents that are taken of one sender in a UTC day, over all instances: anybody can send those that are
 * well-formed and signed, and they are kept for good.
 */
export class DailyReceivedBytes {
  readonly #claimed = new LRUCache<string, Claimed>({ max: MOST_SENDERS });

  constructor(
    private readonly budgets: Pick<RefusalBudgets, 'take'>,
    /** Bytes of one sender in a day. */
    private readonly limit: number,
  ) {}

  /** Counts a document that is about to be kept. Throws the ApiError to answer (429 `daily_bytes_used`) where it has no room. */
  async take(received: SentBytes): Promise<void> {
    const claimed = this.#of(received);
    const done = claimed.turn.then(() => this.#use(claimed, received));
    claimed.turn = done.catch(() => undefined);
    await done;
  }

  /**
   * The document was not recorded, so the same sender may send it again: an outage uses up nobody's daily bytes.
   */
  giveBack(received: SentBytes): void {
    const claimed = this.#claimed.get(received.network);
    if (claimed?.period === budgetPeriod(received.receivedAt)) claimed.left += received.bytes;
  }

  #of({ network, receivedAt }: SentBytes): Claimed {
    const period = budgetPeriod(receivedAt);
    const known = this.#claimed.get(network);
    if (known?.period === period) return known;
    const claimed = { period, left: 0, turn: Promise.resolve() };
    this.#claimed.set(network, claimed);
    return claimed;
  }

  async #use(claimed: Claimed, { bytes, network, receivedAt }: SentBytes): Promise<void> {
    const missing = bytes - claimed.left;
    if (missing > 0) {
      const ahead = Math.min(AHEAD.most, Math.floor(this.limit / AHEAD.part));
      const more =
        (await this.#claim(network, claimed, missing + ahead)) ?? (await this.#claim(network, claimed, missing));
      if (more === null) throw usedUp(receivedAt);
      claimed.left += more;
    }
    claimed.left -= bytes;
  }

  /** What was claimed; null where there is no room for it. */
  async #claim(network: string, { period }: Claimed, amount: number): Promise<number | null> {
    const claim = { scope: `received:${network}`, period, amount, limit: this.limit };
    return (await this.budgets.take([claim])) === null ? amount : null;
  }
}

function usedUp(at: Date): ApiError {
  const seconds = Math.ceil((DAY_MS - (at.getTime() % DAY_MS)) / 1_000);
  return new ApiError(
    429,
    'daily_bytes_used',
    'Documents of this sender have taken the bytes that one sender has in a UTC day (MAX_RECEIVED_BYTES_PER_SENDER); send it again when the next begins.',
    { headers: { 'retry-after': String(seconds) } },
  );
}
