import type { EventType, PublicEvent } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Caller } from '@ecf/taxpayer-replica';
import type { NewFeedEvent } from './public-events.js';

/** The events of customers. */
export interface FeedStore {
  /**
   * Adds events in their order, with their deliveries to webhooks; an occurrence that is there already is not added again.
   * Resolves with the number of deliveries.
   */
  append(events: readonly NewFeedEvent[], now: Date): Promise<number>;
  /** Deletes events that are older than 90 days, at most those of one day in a call. The latest event stays. */
  deleteExpired(now: Date): Promise<void>;
  /** The place that a reader names. */
  placeOf(after: string): Promise<number | 'expired' | 'unknown'>;
  /** The id of the latest event. */
  latest(): Promise<string>;
  /** The oldest or newest events after a place, null = all that are kept; `next` is the place to continue from. */
  page(query: {
    readonly env: Environment;
    readonly rncs: readonly string[];
    /**
     * Events of the account alone are read for this caller. A key with `taxpayers` sees those of keys with the same or
     * fewer taxpayers.
     */
    readonly caller: Caller;
    readonly types: readonly EventType[] | null;
    readonly after: number | null;
    readonly newest: boolean;
    readonly limit: number;
  }): Promise<{ events: readonly (Omit<PublicEvent, 'time'> & { readonly time: Date })[]; next: string }>;
}
