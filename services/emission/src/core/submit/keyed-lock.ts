/** Runs work of one key one after the other, work of different keys side by side. */
export interface KeyedLock {
  /** @param work told when that began which ran when it came; null where it waits for nobody */
  run<T>(key: string, work: (since: Date | null) => Promise<T>): Promise<T>;
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
  const lanes = new Map<string, Lane>();
  return {
    run(key, work) {
      const present = lanes.get(key);
      const lane = present ?? { ended: Promise.resolve(), began: clock() };
      const since = lane.began;
      const begin = () => {
        lane.began = clock();
        return work(since);
      };
      const result = present === undefined ? work(null) : present.ended.then(begin);
      const ended = result.then(
        () => undefined,
        (error) => {
          const told = toldToAll(error);
          if (told !== null) throw told;
        },
      );
      lane.ended = ended;
      lanes.set(key, lane);
      const leave = () => {
        if (lane.ended === ended) lanes.delete(key);
      };
      ended.then(leave, leave);
      return result;
    },
  };
}

/** The work of one key. */
interface Lane {
  /** When all of it has ended. */
  ended: Promise<void>;
  /** When that began which runs now. */
  began: Date;
}
