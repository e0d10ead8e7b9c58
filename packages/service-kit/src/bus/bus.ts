/** A fact, in the shape that travels: CloudEvents' attributes and the data. Times are ISO 8601. */
export interface BusEvent<D = unknown> {
  readonly id: string;
  readonly type: string;
  /** The service that says it. */
  readonly source: string;
  readonly time: string;
  /** What it is about: the key without the environment where there is one. */
  readonly subject: string;
  /** W3C trace context of the work that caused it. */
  readonly traceparent?: string;
  readonly topic: string;
  /** Events of one key are delivered in the order of their publication. */
  readonly key: string;
  readonly data: D;
}

/** The number of the attempt, and the signal to give up. */
export interface Delivery {
  readonly attempt: number;
  readonly signal: AbortSignal;
}

export type EventHandler = (event: BusEvent, delivery: Delivery) => Promise<void>;

/** The events have one topic and stand in the order of their publication. */
export type BatchHandler = (events: readonly BusEvent[]) => Promise<void>;

export interface SubscribeOptions {
  topics: readonly string[];
  /** Every group gets every event; the members of a group share them. */
  group: string;
  handler: EventHandler;
  /**
   * Handles several events of one topic in one transaction. If it fails, `handler` gets each of them. Without it, `handler`
   * gets every event.
   */
  batchHandler?: BatchHandler;
}

export interface Subscription {
  /** Takes nothing new and waits for what is being handled. */
  stop(): Promise<void>;
}

/** The bus will not take an event of the batch, however often it is offered: for its content, which is too large mostly. */
export class EventRefused extends Error {
  constructor(cause: unknown) {
    super('the bus refuses an event for its content', { cause });
    this.name = 'EventRefused';
  }
}

/**
 * Carries events between services, at least once, in order per key. A consumer notes the event's id in the transaction of
 * its effect (`once` of the inbox), so that a second delivery does nothing.
 */
export interface Bus {
  /**
   * Resolves when all events of the batch are safe with the bus; rejects when some may not be: publish them all again, after
   * {@link EventRefused} each by itself.
   */
  publish(batch: readonly BusEvent[]): Promise<void>;
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  close(): Promise<void>;
}
