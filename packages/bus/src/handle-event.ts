import { setTimeout as delay } from 'node:timers/promises';
import { withConsumerSpan } from '@ecf/kit';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import { isDatabaseUnavailable, isStatementAtFault } from '@ecf/postgres';
import type { BatchHandler, BusEvent, DeadLetters, EventHandler } from './bus.js';
import { checkEvent, EventError } from './events.js';

export interface RetryPolicy {
  /** Attempts before an event becomes a dead letter. */
  attempts: number;
  /** Milliseconds before the second attempt; doubled each time. */
  firstDelayMs: number;
  maxDelayMs: number;
  /** Longest milliseconds of one attempt. Longer than statements may take, so that a database that hangs reports it first. */
  timeoutMs: number;
  /**
   * Attempts for an event whose statements the database cancels (too long, too much memory, a damaged page) while it answers
   * others. The cause may be the event, or a lock or a disk in trouble: the attempts take minutes in all.
   */
  givenUp: Readonly<{ attempts: number; maxDelayMs: number }>;
}

export const DEFAULT_RETRY: RetryPolicy = {
  attempts: 6,
  firstDelayMs: 100,
  maxDelayMs: 5_000,
  timeoutMs: 105_000,
  givenUp: { attempts: 20, maxDelayMs: 60_000 },
};

/** The handler's own store is unavailable. The event is not at fault; it waits until the store is back. */
export class HandlerUnavailable extends Error {
  constructor(cause: unknown) {
    super('the consumer cannot work at present', { cause });
    this.name = 'HandlerUnavailable';
  }
}

export interface HandlingContext {
  group: string;
  handler: EventHandler;
  retry: RetryPolicy;
  deadLetters: Pick<DeadLetters, 'add'> | undefined;
  logger: Logger;
  signal: AbortSignal;
  metrics?: HandlingMetrics;
}

/** Counts the outcomes of events. */
export interface HandlingMetrics {
  handled(topic: string, group: string, outcome: 'done' | 'failed' | 'dead'): void;
}

/**
 * `ecf_events_handled_total` by topic, group and outcome: done, failed (and tried again), dead (kept as a dead letter).
 */
export function handlingMetrics(metrics: Metrics): HandlingMetrics {
  const events = metrics.counter({
    name: 'ecf_events_handled_total',
    help: 'Attempts to handle an event: done, failed (tried again), dead (kept as a dead letter)',
    labels: ['topic', 'group', 'outcome'],
  });
  return { handled: (topic, group, outcome) => events.inc({ topic, group, outcome }) };
}

/**
 * Delivers one event to a group; both adapters of the bus use it. The event is checked by its schema and retried with growing
 * pauses. After too many failures it becomes a dead letter with the reason. If the consumer's database is unavailable or
 * hangs, it throws {@link HandlerUnavailable} and counts no attempt. Statements that the database cancels for this event alone
 * count, with their own limit. Resolves with false if the event became a dead letter.
 */
export async function handleEvent(event: BusEvent, context: HandlingContext): Promise<boolean> {
  const { retry, signal } = context;
  let pause = retry.firstDelayMs;
  let givenUp = 0;
  for (let attempt = 1; ; attempt += 1) {
    let maxDelayMs: number;
    try {
      const checked = checkEvent(event);
      await withConsumerSpan(event, context.group, async () => within(retry.timeoutMs, context.handler(checked)));
      context.metrics?.handled(event.topic, context.group, 'done');
      return true;
    } catch (error) {
      const isUnavailable = isDatabaseUnavailable(error);
      if (signal.aborted || (isUnavailable && !(await isStatementAtFault(error)))) throw new HandlerUnavailable(error);
      if (isUnavailable) givenUp += 1;
      maxDelayMs = isUnavailable ? retry.givenUp.maxDelayMs : retry.maxDelayMs;
      const isLast = isUnavailable ? givenUp >= retry.givenUp.attempts : attempt - givenUp >= retry.attempts;
      if (error instanceof EventError || isLast) {
        await keepDeadLetter(event, attempt, error, context);
        return false;
      }
      context.metrics?.handled(event.topic, context.group, 'failed');
      context.logger.warn(
        { err: error, event_id: event.id, topic: event.topic, group: context.group, attempt },
        'event handler failed',
      );
    }
    await delay(pause, undefined, { signal }).catch(() => undefined);
    pause = Math.min(pause * 2, maxDelayMs);
  }
}

/** Calls a batch handler with events of one topic. False if it failed: then each event is handled alone. */
export async function handleBatch(
  events: readonly BusEvent[],
  batchHandler: BatchHandler,
  context: Pick<HandlingContext, 'group' | 'retry' | 'logger' | 'metrics'>,
): Promise<boolean> {
  const { group, logger, retry, metrics } = context;
  const topic = events[0]?.topic ?? '';
  try {
    const checked = events.map(checkEvent);
    const work = within(retry.timeoutMs, batchHandler(checked));
    // The span of each event lasts as long as the batch.
    await Promise.all(checked.map((event) => withConsumerSpan(event, group, () => work)));
    for (const event of checked) metrics?.handled(event.topic, group, 'done');
    return true;
  } catch (error) {
    logger.debug({ err: error, topic, group, events: events.length }, 'the events of a batch are handled one by one');
    return false;
  }
}

/** The part of the context that {@link keepDeadLetter} uses. */
export type DeadLetterContext = Pick<HandlingContext, 'group' | 'deadLetters' | 'logger' | 'metrics'>;

/** Keeps an event as a dead letter of a group, with the error as the reason. Resolves after it is stored. */
export async function keepDeadLetter(
  event: BusEvent,
  attempts: number,
  error: unknown,
  context: DeadLetterContext,
): Promise<void> {
  const { group, deadLetters } = context;
  if (deadLetters === undefined) throw new HandlerUnavailable(error);
  const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  await deadLetters.add({ group, event, reason, attempts });
  context.logger.error(
    { err: error, event_id: event.id, topic: event.topic, group },
    'event given up, kept as a dead letter',
  );
  context.metrics?.handled(event.topic, group, 'dead');
}

/** Rejects when the work of an attempt takes too long; the work itself continues. */
async function within(timeoutMs: number, work: Promise<void>): Promise<void> {
  if (!(await isOverWithin(timeoutMs, work))) throw new Error(`the handler took longer than ${timeoutMs} ms`);
  return work;
}

/** Waits at most `ms` for the work to end, in success or failure. False if it has not ended by then. */
export async function isOverWithin(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), ms);
  });
  const over = () => true;
  try {
    return await Promise.race([work.then(over, over), late]);
  } finally {
    clearTimeout(timer);
  }
}
