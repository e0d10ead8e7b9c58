/** Runs work of one key one after the other, work of different keys side by side. */
export interface KeyedLock {
  run<T>(key: string, work: () => Promise<T>): Promise<T>;
  /** Keys that something runs or waits for. */
  readonly size: number;
}

/**
 * Equal requests that arrive together in one process wait for each other instead of signing twice; across processes the
 * database decides.
 */
export function createKeyedLock(): KeyedLock {
  const tails = new Map<string, Promise<unknown>>();
  return {
    get size() {
      return tails.size;
    },
    run(key, work) {
      const before = tails.get(key);
      const result = before === undefined ? work() : before.then(work, work);
      const tail = result.then(
        () => undefined,
        () => undefined,
      );
      tails.set(key, tail);
      tail.then(() => {
        if (tails.get(key) === tail) tails.delete(key);
      });
      return result;
    },
  };
}
