/** An event with CloudEvents' attributes and its data. Times are ISO 8601. */
export interface BusEvent<D = unknown> {
  readonly id: string;
  readonly type: string;
  /** The service that publishes it. */
  readonly source: string;
  readonly time: string;
  /** The key, without the environment if it has one. */
  readonly subject: string;
  /** W3C trace context of the work that caused it. */
  readonly traceparent?: string;
  readonly topic: string;
  /** Events of one key are delivered in the order of their publication. */
  readonly key: string;
  readonly data: D;
}

export type EventHandler = (event: BusEvent) => Promise<void>;

/** The events have one topic and are in the order of their publication. */
export type BatchHandler = (events: readonly BusEvent[]) => Promise<void>;

/** An event that a group gave up, with the reason of its last failure. */
export interface DeadLetter {
  readonly group: string;
  readonly event: BusEvent;
  readonly reason: string;
  readonly attempts: number;
}

/** Handles a dead letter again. Resolves with false if it was given up again; rejects if it has to wait. */
export type Replay = (event: BusEvent) => Promise<boolean>;

/** The dead letters of a service: rows of its own database, beside its inbox. */
export interface DeadLetters {
  /** Resolves after it is stored. An event has one row for each group that gave it up. */
  add(deadLetter: DeadLetter): Promise<void>;
  /**
   * From now on calls `replay` with the dead letters of a group and its topics that are marked for a replay (`ecf dlq replay`
   * sets the column), one after the other, oldest first. Returns the function that ends this and waits for the present call.
   */
  onReplay(group: string, topics: readonly string[], replay: Replay): () => Promise<void>;
  /** Stops the search for marked dead letters, and the metric. */
  close(): void;
}

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
  /** Keeps the events that the handler gives up, and replays them. Without it, they wait and are retried without limit. */
  deadLetters?: DeadLetters;
}

export interface Subscription {
  /** Takes no new event, and waits for those in flight. */
  stop(): Promise<void>;
}

/** The bus refuses the content of an event in the batch, mostly for its size. Repeating does not help. */
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
   * Resolves when the bus has stored all events of the batch. Rejects when some may be missing: then publish all of them
   * again, and after {@link EventRefused} each one alone.
   */
  publish(batch: readonly BusEvent[]): Promise<void>;
  subscribe(options: SubscribeOptions): Promise<Subscription>;
  close(): Promise<void>;
}
