import {
  BulkheadRejectedError,
  bulkhead,
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  handleWhenResult,
} from 'cockatiel';
import { LRUCache } from 'lru-cache';

export interface CircuitBreakerOptions {
  /** Failures in a row, of different subjects, that open a circuit. */
  failures: number;
  /** First pause in milliseconds; it doubles with each probe that fails. */
  openMs: number;
  maxOpenMs: number;
  /** The longest pause (Retry-After) of a peer that is obeyed; a longer one is obeyed this far. */
  maxPauseMs: number;
  /** Calls in flight to one peer. */
  maxInFlight: number;
}

export const DEFAULT_CIRCUIT_BREAKERS: CircuitBreakerOptions = {
  failures: 5,
  openMs: 1_000,
  maxOpenMs: 5_000,
  maxPauseMs: 600_000,
  maxInFlight: Number.POSITIVE_INFINITY,
};

/** The health of a peer after a call; `neutral` calls do not count. */
export type Health = 'healthy' | 'failing' | 'neutral';

export interface CallResult<T> {
  readonly value: T;
  readonly health: Health;
  /** Milliseconds of the pause that the peer asked for. */
  readonly pauseMs?: number | null;
  /** The document that the call was about. One that fails several times in a row counts once: it may be the cause itself. */
  readonly subject?: string | null;
}

/** The call was not made: the circuit is open, its probe is in flight, or the bulkhead has no free slot. */
interface NotCalled {
  readonly retryAfterMs: number;
}

/** One circuit breaker with a bulkhead for each peer, in this process only. */
export interface CircuitBreakers {
  run<T>(peer: string, call: () => Promise<CallResult<T>>): Promise<CallResult<T> | NotCalled>;
  /** Milliseconds until a call may be made; 0 where one may be made now. */
  waitMs(peer: string): number;
  /** Whether only a probe may be made. */
  isOpen(peer: string): boolean;
  /** Opens a circuit, because the peer is expected to be unreachable. A probe that succeeds closes it. */
  open(peer: string): Promise<void>;
  /** Makes no calls to the peer for this time. */
  pause(peer: string, ms: number): void;
  /** Peers whose circuit is not closed, or that asked for a pause, with the milliseconds until a probe may be made. */
  waiting(): Map<string, number>;
}

interface CircuitBreakersParts {
  readonly options: Partial<CircuitBreakerOptions>;
  /** Milliseconds of a clock that never goes back: one that is set must neither open nor close a circuit. */
  readonly elapsed: () => number;
  readonly onPause?: (peer: string, pauseMs: number) => void;
}

/** Peers in trouble that are remembered; a healthy one without calls in flight is not. */
const REMEMBERED = 20_000;
/** A caller that finds no free slot tries again after these milliseconds. */
const BUSY_MS = 100;

/** cockatiel counts failures, admits the single probe and bounds calls in flight. Pauses are measured here, by `elapsed`. */
export function createCircuitBreakers({ options, elapsed, onPause }: CircuitBreakersParts): CircuitBreakers {
  const settings = { ...DEFAULT_CIRCUIT_BREAKERS, ...options };
  const peers = new LRUCache<string, Peer>({ max: REMEMBERED });
  const peerOf = (name: string) => {
    const peer = peers.get(name) ?? createPeer(settings, elapsed, (pauseMs) => onPause?.(name, pauseMs));
    peers.set(name, peer);
    return peer;
  };

  return {
    async run(name, call) {
      const peer = peerOf(name);
      try {
        return await peer.run(call);
      } finally {
        if (peer.isPristine()) peers.delete(name);
      }
    },
    waitMs: (name) => Math.max(peers.peek(name)?.waitMs() ?? 0, 0),
    isOpen: (name) => peers.peek(name)?.isOpen() ?? false,
    open: (name) => peerOf(name).open(),
    pause: (name, ms) => peerOf(name).pause(ms),
    waiting: () =>
      new Map(
        [...peers].filter(([, peer]) => peer.isWaiting()).map(([name, peer]) => [name, Math.max(peer.waitMs(), 0)]),
      ),
  };
}

type Peer = ReturnType<typeof createPeer>;

function createPeer(settings: CircuitBreakerOptions, elapsed: () => number, onPause: (pauseMs: number) => void) {
  const { failures, openMs, maxOpenMs, maxPauseMs, maxInFlight } = settings;
  const breaker = new ConsecutiveBreaker(failures);
  const slots = bulkhead(maxInFlight);
  const isFailure = (result: unknown) => (result as CallResult<unknown>).health !== 'healthy';
  // A call is executed only after the pause, so cockatiel may always admit a probe.
  const circuit = circuitBreaker(handleWhenResult(isFailure), { halfOpenAfter: Number.NEGATIVE_INFINITY, breaker });
  let nextOpenMs = openMs;
  let pausedUntil = Number.NEGATIVE_INFINITY;
  let failedSubject: string | null = null;

  circuit.onReset(() => {
    nextOpenMs = openMs;
  });
  circuit.onBreak((reason) => {
    if (!('value' in reason) || (reason.value as CallResult<unknown>).health !== 'failing') return;
    pause(nextOpenMs);
    nextOpenMs = Math.min(nextOpenMs * 2, maxOpenMs);
  });

  function pause(ms: number): void {
    const until = elapsed() + ms;
    if (until <= pausedUntil) return;
    pausedUntil = until;
    onPause(ms);
  }

  function waitMs(): number {
    const left = pausedUntil - elapsed();
    return circuit.state === CircuitState.HalfOpen ? Math.max(left, openMs) : left;
  }

  async function run<T>(call: () => Promise<CallResult<T>>): Promise<CallResult<T> | NotCalled> {
    const retryAfterMs = waitMs();
    if (retryAfterMs > 0) return { retryAfterMs };
    // A neutral probe leaves the circuit open; any other neutral call does not count.
    const isProbe = circuit.state !== CircuitState.Closed;
    try {
      const result = await slots.execute(() =>
        circuit.execute(async () => {
          const called = await call();
          if (!isProbe && (called.health === 'neutral' || failedAgain(called))) throw new Uncounted(called);
          return called;
        }),
      );
      obey(result);
      return result;
    } catch (error) {
      if (error instanceof BulkheadRejectedError) return { retryAfterMs: BUSY_MS };
      if (!(error instanceof Uncounted)) throw error;
      obey(error.result as CallResult<T>);
      return error.result as CallResult<T>;
    }
  }

  function failedAgain({ health, subject = null }: CallResult<unknown>): boolean {
    const again = health === 'failing' && subject !== null && subject === failedSubject;
    failedSubject = health === 'failing' ? subject : health === 'healthy' ? null : failedSubject;
    return again;
  }

  /** Records failures until the circuit opens: a circuit that cockatiel isolates admits no probe. */
  async function open(): Promise<void> {
    const unreachable = async (): Promise<CallResult<null>> => ({ value: null, health: 'failing' });
    while (circuit.state === CircuitState.Closed) await circuit.execute(unreachable);
    // The next call is the probe.
    pausedUntil = elapsed();
  }

  /** A pause that the peer asked for. */
  const pauseAsAsked = (ms: number) => pause(Math.min(ms, maxPauseMs));

  function obey({ pauseMs }: CallResult<unknown>): void {
    if (pauseMs) pauseAsAsked(pauseMs);
  }

  const isOpen = () => circuit.state !== CircuitState.Closed;
  const isWaiting = () => isOpen() || pausedUntil > elapsed();
  return {
    run,
    open,
    pause: pauseAsAsked,
    waitMs,
    isOpen,
    isWaiting,
    isPristine: () => breaker.state === 0 && slots.executionSlots === maxInFlight && !isWaiting(),
  };
}

/** Carries a result past the circuit breaker. */
class Uncounted extends Error {
  constructor(readonly result: CallResult<unknown>) {
    super('not counted');
  }
}
