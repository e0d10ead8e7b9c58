/**
 * Keeps calls away from a service that is down or asked for a pause, so that callers get their answer at once.
 * One state per key (environment and service), in this process only.
 */
export interface CircuitOptions {
  /** Failures in a row (no connection, timeout, 5xx) that open the circuit. */
  failures: number;
  /** First pause; it doubles with each probe that fails. */
  openMs: number;
  maxOpenMs: number;
  /** The longest Retry-After that is obeyed; a longer one is reported and obeyed this far. */
  maxPauseMs: number;
}

export const DEFAULT_CIRCUIT: CircuitOptions = {
  failures: 10,
  openMs: 1_000,
  maxOpenMs: 5_000,
  maxPauseMs: 600_000,
};

/** What a call says of the service's health; `neutral` where it says nothing. */
export type Health = 'healthy' | 'failing' | 'neutral';

/** Either the milliseconds to wait, or the way through: then `leave` must be called once. */
export type Admission = { waitMs: number } | { leave(health: Health, retryAfterMs: number | null): void };

export interface Circuit {
  enter(key: string): Admission;
}

interface State {
  failures: number;
  /** By `elapsed`; nothing passes before. */
  pausedUntil: number;
  openMs: number;
  probing: boolean;
}

/** @param elapsed milliseconds of a clock that never goes back: one that is set must neither open nor close a circuit */
export function createCircuit(options: Partial<CircuitOptions>, elapsed: () => number): Circuit {
  const settings = { ...DEFAULT_CIRCUIT, ...options };
  const states = new Map<string, State>();

  return {
    enter(key) {
      const state = states.get(key) ?? {
        failures: 0,
        pausedUntil: Number.NEGATIVE_INFINITY,
        openMs: settings.openMs,
        probing: false,
      };
      states.set(key, state);
      const waitMs = state.pausedUntil - elapsed();
      if (waitMs > 0) return { waitMs };
      // After a pause for failures one call goes ahead, the others wait for what it finds.
      const probe = state.failures >= settings.failures;
      if (probe && state.probing) return { waitMs: settings.openMs };
      if (probe) state.probing = true;
      return { leave: (health, retryAfterMs) => leave(state, probe, health, retryAfterMs) };
    },
  };

  function leave(state: State, probe: boolean, health: Health, retryAfterMs: number | null): void {
    const now = elapsed();
    if (probe) state.probing = false;
    if (health === 'healthy') {
      state.failures = 0;
      state.openMs = settings.openMs;
    } else if (health === 'failing') {
      state.failures += 1;
      if (probe) state.openMs = Math.min(state.openMs * 2, settings.maxOpenMs);
      if (state.failures >= settings.failures) state.pausedUntil = Math.max(state.pausedUntil, now + state.openMs);
    }
    if (retryAfterMs !== null) {
      state.pausedUntil = Math.max(state.pausedUntil, now + Math.min(retryAfterMs, settings.maxPauseMs));
    }
  }
}
