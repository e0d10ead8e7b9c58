import { setTimeout as delay } from 'node:timers/promises';

export interface RetryOptions {
  /** Milliseconds before the second attempt, doubled before each further one; default 100. */
  readonly firstMs?: number;
  /** Longest pause in milliseconds; default 5,000. */
  readonly longestMs?: number;
  /**
   * Called after each failure with the error, the number of failures and the next pause in milliseconds. It throws to give up,
   * and may return another pause, a number.
   */
  readonly onFailure?: (error: unknown, failures: number, pauseMs: number) => unknown;
  /** Once it is aborted, the pause ends and `retry` rejects with the last error. */
  readonly signal?: AbortSignal;
  readonly sleep?: (ms: number) => Promise<unknown>;
}

/** Repeats work with growing pauses until it resolves. (A retry policy of cockatiel cannot end a pause early.) */
export async function retry<T>(work: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { firstMs = 100, longestMs = 5_000, onFailure, signal } = options;
  const sleep = options.sleep ?? ((ms) => delay(ms, undefined, { signal }).catch(() => undefined));
  for (let failures = 1, pause = firstMs; ; failures += 1, pause = Math.min(2 * pause, longestMs)) {
    try {
      return await work();
    } catch (error) {
      if (signal?.aborted) throw error;
      const given = onFailure?.(error, failures, pause);
      await sleep(typeof given === 'number' ? given : pause);
      if (signal?.aborted) throw error;
    }
  }
}
