/** Runs work of one key one after the other, work of different keys side by side. */
export interface KeyedLock {
  /** @param work told since when others of its key have run before it, without a pause; null where it waited for nobody */
  run<T>(key: string, work: (since: Date | null) => Promise<T>): Promise<T>;
  /** Keys that something runs or waits for. */
  readonly size: number;
}

/**
 * Equal requests that arrive together in one process wait for each other instead of signing twice; across processes the
 * database decides.
 *
 * @param clock the one that attempts are dated by
 * @param toldToAll what those are told who wait, of a failure that they would meet: at once, so that none waits for as long
 * again; null of any other failure. Those who wait behind them are told by it in turn
 */
export function createKeyedLock(
  clock: () => Date,
  toldToAll: (error: unknown) => Error | null = () => null,
): KeyedLock {
  const tails = new Map<string, { ended: Promise<unknown>; since: Date }>();
  return {
    get size() {
      return tails.size;
    },
    run(key, work) {
      const before = tails.get(key);
      const result = before === undefined ? work(null) : before.ended.then(() => work(before.since));
      const ended = result.then(
        () => undefined,
        (error) => {
          const told = toldToAll(error);
          if (told !== null) throw told;
        },
      );
      const tail = { ended, since: before?.since ?? clock() };
      tails.set(key, tail);
      const leave = () => {
        if (tails.get(key) === tail) tails.delete(key);
      };
      ended.then(leave, leave);
      return result;
    },
  };
}
