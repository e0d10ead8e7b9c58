import { useQuery, useQueryClient } from '@tanstack/react-query';
import { bodyOf, GatewayError, gateway, type Schemas } from './gateway.js';
import { usePlace } from './place.js';

export type Event = Schemas['Event'];
export type EventType = Event['type'];

/** Kinds of events that a person may want to see alone. */
export const EVENT_KINDS = {
  attention: [
    'invoice.rejected',
    'invoice.overdue',
    'contingency.late',
    'delivery.refused',
    'delivery.failed',
    'received.disputed',
    'approval.refused',
    'cancellation.rejected',
    'range.low',
    'range.expiring',
    'certificate.expiring',
  ],
  invoice: [
    'invoice.accepted',
    'invoice.conditional',
    'invoice.rejected',
    'invoice.held',
    'invoice.withdrawn',
    'invoice.overdue',
  ],
  delivery: ['delivery.delivered', 'delivery.refused', 'delivery.failed'],
  received: ['received.accepted', 'received.refused', 'received.confirmed', 'received.disputed'],
  approval: ['approval.received', 'approval.sent', 'approval.refused'],
  cancellation: ['cancellation.accepted', 'cancellation.partial', 'cancellation.rejected'],
  batch: ['batch.done'],
  contingency: ['contingency.started', 'contingency.ended', 'contingency.late'],
  settings: ['range.low', 'range.expiring', 'certificate.expiring'],
} as const satisfies Record<string, readonly EventType[]>;

/** The most events that the page keeps. */
const MOST_KEPT = 500;
/** How many it begins with. */
const FIRST = 100;
const WAIT_SECONDS = 20;
/** How long a call may take: a line that was cut without a word would keep it for ever. */
const CALL_MS = (WAIT_SECONDS + 10) * 1_000;
/** A pause between two calls; each call itself waits for an event. */
const PAUSE_MS = 500;
const PAUSE_AFTER_ERROR_MS = 5_000;

interface Feed {
  /** Newest first. */
  readonly events: readonly Event[];
  /** Where the next events begin. */
  readonly next: string;
}

/**
 * The newest events of the account, as they happen, until `paused`. `types` has names of types, separated by commas; empty = every
 * type. Events that happened during a pause or without a connection come with the next answer.
 */
export function useEvents(types: string, paused: boolean) {
  const { env } = usePlace();
  const queries = useQueryClient();
  const queryKey = ['events', env, types];
  const read = (query: { after?: string; wait?: number; limit: number }, stopped: AbortSignal) => {
    const params = { header: { env }, query: { ...query, newest: 'true' as const, ...(types && { types }) } };
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(CALL_MS)]);
    return bodyOf(gateway.GET('/events', { params, signal }));
  };
  const feed = useQuery({
    queryKey,
    queryFn: async ({ signal }): Promise<Feed> => {
      const known = queries.getQueryData<Feed>(queryKey);
      const page = known
        ? await read({ after: known.next, wait: WAIT_SECONDS, limit: MOST_KEPT }, signal).catch((error) => {
            if (!isPlaceLost(error)) throw error;
            return null;
          })
        : null;
      if (known && page) return { events: newestOf(page.events, known.events), next: page.next };
      const first = await read({ limit: FIRST }, signal);
      return { events: newestOf(first.events, []), next: first.next };
    },
    enabled: !paused,
    refetchInterval: ({ state }) => (state.status === 'error' ? PAUSE_AFTER_ERROR_MS : PAUSE_MS),
  });
  return { ...feed, stop: () => queries.cancelQueries({ queryKey }) };
}

/** The last event that was read is not kept any more, or belongs to a feed before a restored backup: the page begins anew. */
function isPlaceLost(error: unknown): boolean {
  return error instanceof GatewayError && ['event_expired', 'unknown_event'].includes(error.code);
}

function newestOf(arrived: readonly Event[], known: readonly Event[]): readonly Event[] {
  return [...arrived.toReversed(), ...known].slice(0, MOST_KEPT);
}
