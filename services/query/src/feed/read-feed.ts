import type { EventList, EventType } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { type AccountPorts, type Caller, readAccount } from '@ecf/taxpayer-replica';
import { QueryError } from '../errors.js';
import type { FeedStore } from './ports.js';
import { shownEvent } from './public-events.js';

export interface FeedQuery {
  readonly caller: Caller;
  readonly env: Environment;
  /** Id of an event, or `next` of an answer; null = from the oldest event that is kept. */
  readonly after: string | null;
  /** Whether a page that does not hold every event has the newest ones. */
  readonly newest: boolean;
  /** Null = every type. */
  readonly types: readonly EventType[] | null;
  readonly limit: number;
  /** Seconds that the answer may wait for an event. */
  readonly wait: number;
  /** True once the caller has left or the server stops: then the answer waits no longer. */
  readonly isOver: () => boolean;
}

/** Pause between two reads for callers that wait. */
const POLL_MS = 500;

/** Resolves after that many milliseconds. */
type Sleep = (ms: number) => Promise<void>;

/** Finds the place that a reader names. Throws `event_expired` and `unknown_event`. */
export function placeInFeed(feed: Pick<FeedStore, 'placeOf'>) {
  return async function placeOf(after: string): Promise<number> {
    const place = await feed.placeOf(after);
    if (place === 'unknown')
      throw new QueryError(
        'unknown_event',
        'after is not the id of an event, nor a next of an earlier answer; send one of them unchanged. GET /events without after begins with the oldest event.',
      );
    if (place === 'expired')
      throw new QueryError(
        'event_expired',
        'The event named in after is older than the events that are kept; GET /events without after begins with the oldest one.',
      );
    return place;
  };
}

/** Reads the events of the taxpayers that the caller may act for. Throws `event_expired` and `unknown_event`. */
export function createReadFeed(ports: AccountPorts, feed: FeedStore, sleep: Sleep) {
  const placeOf = placeInFeed(feed);
  const nextLatest = sharedLatest(feed, sleep);

  return async function readFeed({
    caller,
    env,
    after,
    newest,
    types,
    limit,
    wait,
    isOver,
  }: FeedQuery): Promise<EventList> {
    const { taxpayers } = await readAccount(ports, caller);
    const rncs = taxpayers.map(({ rnc }) => rnc);
    const place = after === null ? null : await placeOf(after);
    const readPage = () => feed.page({ env, rncs, caller, types, after: place, newest, limit });
    let page = await readPage();
    for (let waited = 0; page.events.length === 0 && waited < wait * 1_000 && !isOver(); waited += POLL_MS) {
      const latest = await nextLatest(isOver);
      // Most queries find no new event in the feed.
      if (!isOver() && latest !== page.next) page = await readPage();
    }
    return { events: page.events.map(shownEvent), next: page.next };
  };
}

/** Queries the latest id of the feed after a pause: one query for all readers that wait. Null if all of them have left. */
function sharedLatest(feed: Pick<FeedStore, 'latest'>, sleep: Sleep) {
  let query: { latest: Promise<string | null>; readers: (() => boolean)[] } | null = null;
  return (isOver: () => boolean): Promise<string | null> => {
    if (query === null) {
      const readers: (() => boolean)[] = [];
      const latest = sleep(POLL_MS).then(() => {
        query = null;
        return readers.every((left) => left()) ? null : feed.latest();
      });
      query = { latest, readers };
    }
    query.readers.push(isOver);
    return query.latest;
  };
}
