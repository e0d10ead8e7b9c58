import { FIRST_RETRY_WITHIN_MS } from '../receivers/receiver-pauses.js';
import type { LaneName } from './delivery-ports.js';

/** What an attempt said about the receiver itself. */
export type LaneSign = 'alive' | 'failing' | 'unknown';

interface Lane {
  /** Under way now. */
  running: number;
  /** It answered before. */
  proven: boolean;
  /** Failures in a row. */
  failures: number;
  /** Those for whom it failed since it answered last, where that is told. */
  readonly failedFor: Set<LaneName>;
  /** Failed probes by those for whom it had failed before. */
  failedAgain: number;
  /** By what has elapsed. */
  openUntil: number;
  /** The same, for those in `failedFor`. */
  openForThemUntil: number;
}

export interface LaneOptions {
  /** How many may be under way at once where it answered last time; elsewhere one. */
  readonly places: number;
  /** Failures in a row after which a receiver is left alone. */
  readonly failuresToOpen: number;
  /** The first pause; it doubles with each failed probe, up to `longestPauseMs`. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
  /** Milliseconds since any moment; unlike a clock it is never set. */
  readonly elapsed: () => number;
  readonly onOpen: (lane: LaneName, pauseMs: number) => void;
}

const REMEMBERED = 20_000;

/**
 * What this instance knows about receivers, so that a slow or dead one harms nobody else: nothing new begins where all places
 * are taken, one that never answered gets one document at a time, and one that failed repeatedly gets none for a while, then
 * a single probe.
 */
export class DeliveryLanes {
  readonly #lanes = new Map<LaneName, Lane>();

  constructor(private readonly options: LaneOptions) {}

  begin(name: LaneName): void {
    this.#lane(name).running += 1;
  }

  /**
   * `whom`: who was to receive there. It fails once for each of them, however often: one that never answers right closes
   * nothing for the others there. Where it failed for several, the next failure for any of them is one for all of them.
   */
  end(name: LaneName, sign: LaneSign, pauseMs = 0, whom: LaneName | null = null): void {
    const lane = this.#lane(name);
    lane.running -= 1;
    if (sign === 'alive') {
      lane.proven = true;
      lane.failures = 0;
      lane.failedFor.clear();
      lane.failedAgain = 0;
      lane.openUntil = Number.NEGATIVE_INFINITY;
      lane.openForThemUntil = Number.NEGATIVE_INFINITY;
    } else if (sign === 'failing' && whom !== null && lane.failedFor.has(whom)) {
      this.#openForThem(name, lane);
    } else if (sign === 'failing') {
      if (whom !== null) lane.failedFor.add(whom);
      lane.failures += 1;
      this.#open(name, lane, pauseMs);
    }
    this.#forgetSome();
  }

  /** Receivers that get nothing now. */
  blocked(): LaneName[] {
    const now = this.options.elapsed();
    return this.#names((lane) => this.#free(lane, now) <= 0);
  }

  /** Whether one more may begin now. */
  admits(name: LaneName): boolean {
    const lane = this.#lanes.get(name);
    return lane === undefined || this.#free(lane, this.options.elapsed()) > 0;
  }

  /**
   * Milliseconds that one is left alone still, by everybody or by `whom`; while its one probe is under way, the first pause.
   * 0 where it is not.
   */
  restMs(name: LaneName, whom: LaneName | null = null): number {
    const lane = this.#lanes.get(name);
    if (lane === undefined) return 0;
    const probed = lane.failures >= this.options.failuresToOpen && lane.running > 0;
    const theirs = whom !== null && lane.failedFor.has(whom);
    const until = theirs ? Math.max(lane.openUntil, lane.openForThemUntil) : lane.openUntil;
    return Math.max(until - this.options.elapsed(), probed ? this.options.firstPauseMs : 0);
  }

  /** Those for whom one that they share is left alone now, though not for everybody. */
  shutOut(): LaneName[] {
    const now = this.options.elapsed();
    return [...this.#lanes.values()].flatMap((lane) => (lane.openForThemUntil > now ? [...lane.failedFor] : []));
  }

  /** Those that may get several now, with how many. */
  roomy(): Record<LaneName, number> {
    const now = this.options.elapsed();
    const free = [...this.#lanes].map(([name, lane]): [LaneName, number] => [name, this.#free(lane, now)]);
    return Object.fromEntries(free.filter(([, places]) => places > 1));
  }

  /** Receivers that answered, last time too. */
  proven(): LaneName[] {
    return this.#names((lane) => lane.proven && lane.failures === 0);
  }

  /** Receivers that are left alone now. */
  open(): LaneName[] {
    const now = this.options.elapsed();
    return this.#names((lane) => lane.openUntil > now);
  }

  #free(lane: Lane, now: number): number {
    if (lane.openUntil > now) return 0;
    return (lane.proven && lane.failures === 0 ? this.options.places : 1) - lane.running;
  }

  #open(name: LaneName, lane: Lane, pauseMs: number): void {
    const longestMs = this.options.longestPauseMs;
    const keptMs = Math.min(pauseMs, lane.failures === 1 ? Math.min(FIRST_RETRY_WITHIN_MS, longestMs) : longestMs);
    const wholeMs = Math.max(this.#pauseOf(lane), keptMs);
    if (wholeMs === 0) return;
    lane.openUntil = this.options.elapsed() + wholeMs;
    this.options.onOpen(name, wholeMs);
  }

  /** Of many that were under way when it died, one counts as its probe. */
  #openForThem(name: LaneName, lane: Lane): void {
    const now = this.options.elapsed();
    if (this.#pauseOf(lane) === 0 || Math.max(lane.openUntil, lane.openForThemUntil) > now) return;
    lane.failedAgain += 1;
    const pauseMs = this.#pauseOf(lane);
    lane.openForThemUntil = now + pauseMs;
    this.options.onOpen(name, pauseMs);
  }

  #pauseOf({ failures, failedAgain }: Lane): number {
    const over = failures - this.options.failuresToOpen;
    if (over < 0) return 0;
    return Math.min(this.options.firstPauseMs * 2 ** Math.min(over + failedAgain, 20), this.options.longestPauseMs);
  }

  #names(wanted: (lane: Lane) => boolean): LaneName[] {
    return [...this.#lanes].filter(([, lane]) => wanted(lane)).map(([name]) => name);
  }

  #lane(name: LaneName): Lane {
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      lane = {
        running: 0,
        proven: false,
        failures: 0,
        failedFor: new Set(),
        failedAgain: 0,
        openUntil: Number.NEGATIVE_INFINITY,
        openForThemUntil: Number.NEGATIVE_INFINITY,
      };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #forgetSome(): void {
    if (this.#lanes.size <= REMEMBERED) return;
    for (const [name, lane] of this.#lanes) {
      if (this.#lanes.size <= REMEMBERED / 2) return;
      if (lane.running === 0) this.#lanes.delete(name);
    }
  }
}
