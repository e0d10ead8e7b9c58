import { setTimeout as delay } from 'node:timers/promises';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5_000;

/**
 * Repeats work with growing pauses until it resolves. After the signal is aborted it rejects with the last error. `onFailure`
 * may throw to give up earlier.
 */
export async function repeat<T>(
  work: () => Promise<T>,
  signal: AbortSignal,
  onFailure: (error: unknown, pauseMs: number) => void = () => {},
): Promise<T> {
  for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(2 * pause, MAX_PAUSE_MS))
    try {
      return await work();
    } catch (error) {
      if (signal.aborted) throw error;
      onFailure(error, pause);
      await delay(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) throw error;
    }
}
