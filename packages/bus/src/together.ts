import { createSharedCalls } from '@ecf/postgres';
import type { BatchHandler, BusEvent } from './bus.js';

/** Groups of events that share a call of a batch handler. */
const MOST_TOGETHER = 16;

/**
 * A batch handler of one topic whose calls share transactions: events that arrive while it works share its next call. If a
 * shared call fails, the events of each call are handled alone.
 */
export function together(handler: BatchHandler): BatchHandler {
  const calls = createSharedCalls<readonly BusEvent[], void>({
    maxItems: MOST_TOGETHER,
    maxInFlight: 1,
    keyOf: (events) => events,
    async work(groups) {
      await handler(groups.flat());
      return groups.map(() => undefined);
    },
  });
  return (events) => calls.run(events);
}
