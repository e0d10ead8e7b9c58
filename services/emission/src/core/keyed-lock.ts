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
 * @param toldToAll what those are told who wait, of a failure that they would meet: at once, so that none waits for as long
 * again; null of any other failure. Those who wait behind them are told by it in turn
 */
export function createKeyedLock(toldToAll: (error: unknown) => Error | null = () => null): KeyedLock {
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
          const told = toldToAll(error);
          if (told !== null) throw told;
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
