/** Runs work of one key one after the other, work of different keys side by side. */
export interface KeyedLock {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Keys that something runs or waits for. */
  readonly size: number;
}

/**
 * Equal requests that arrive together in one process wait for each other instead of signing twice; across processes the
 * database decides.
 *
 * @param failsAll of a failure that those would meet who wait: they are told at once, and none waits for as long again
 */
export function createKeyedLock(failsAll: (error: unknown) => boolean = () => false): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  return {
    get size() {
      return tails.size;
    },
    run(key, work) {
      const before = tails.get(key);
      const result = before === undefined ? work() : before.then(work);
      const tail = result.then(
        () => undefined,
        (error) => {
          if (failsAll(error)) throw error;
        },
      );
      tails.set(key, tail);
      const leave = () => {
        if (tails.get(key) === tail) tails.delete(key);
      };
      tail.then(leave, leave);
      return result;
    },
  };
}
