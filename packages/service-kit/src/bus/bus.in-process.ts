import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import type { Bus, BusEvent, SubscribeOptions } from './bus.js';
import { deadLetterMetrics } from './dead-letters/dead-letter-metrics.js';
import type { DeadLetters, ReplayRequests } from './dead-letters/dead-letters.js';
import { DEFAULT_RETRY, HandlerUnavailable, handleEvent, handlingMetrics, type RetryPolicy } from './handle-event.js';

export interface InProcessBusOptions {
  logger: Logger;
  /** Where they can be asked for again, the bus looks for such requests while it has groups. */
  deadLetters: DeadLetters & Partial<ReplayRequests>;
  clock: () => Date;
  retry?: Partial<RetryPolicy>;
  metrics?: Metrics;
  /** Milliseconds between looks for replays that were asked for; default 1000. */
  replayLookMs?: number;
}

interface Member extends SubscribeOptions {
  stopping: AbortController;
  running: Set<Promise<void>>;
}

/** A group that subscribed once is owed its events: while it has no member, they cannot be published. */
interface Group {
  name: string;
  topics: Set<string>;
  members: Member[];
  /** Events handed to its members, which take them in turn. */
  delivered: number;
}

/**
 * The bus of one process. It keeps nothing: `publish` resolves when every group has handled the batch (or has buried what
 * it cannot handle), and rejects when a group's database is gone; the outbox it is fed from is what survives a crash.
 * Consumers subscribe before the relay that feeds the bus is started.
 */
export function createInProcessBus(options: InProcessBusOptions): Bus {
  const { deadLetters, logger } = options;
  const groups = new Map<string, Group>();
  const inOrder = createChains();
  const retry = { ...DEFAULT_RETRY, ...options.retry };
  const metrics = options.metrics === undefined ? {} : { metrics: handlingMetrics(options.metrics) };
  const stopCounting = options.metrics === undefined ? () => {} : deadLetterMetrics(options.metrics, deadLetters);
  let looking: NodeJS.Timeout | undefined;
  let replaying: Promise<void> = Promise.resolve();

  async function deliver(group: Group, events: readonly BusEvent[]): Promise<void> {
    for (const event of events) {
      const interested = group.members.filter((member) => member.topics.includes(event.topic));
      group.delivered += 1;
      const member = interested[group.delivered % interested.length];
      if (member === undefined) throw new HandlerUnavailable(new Error(`the group ${group.name} has left`));
      const handled = handleEvent(event, {
        group: group.name,
        handler: member.handler,
        retry,
        deadLetters,
        logger,
        clock: options.clock,
        signal: member.stopping.signal,
        ...metrics,
      });
      member.running.add(handled);
      try {
        await handled;
      } finally {
        member.running.delete(handled);
      }
    }
  }

  /** A dead-letter message whose group is not here waits for the process that has it. */
  async function replay(): Promise<void> {
    for (const letter of (await deadLetters.requested?.()) ?? []) {
      const { id, event } = letter;
      const group = groups.get(letter.group);
      if (group?.members.some((member) => member.topics.includes(event.topic)) !== true) continue;
      await inOrder(`${group.name} ${event.topic} ${event.key}`, () => deliver(group, [event]));
      await deadLetters.settled?.(id);
      logger.info({ event_id: event.id, topic: event.topic, group: group.name }, 'dead letter replayed');
    }
  }

  function look(): void {
    replaying = replaying.then(replay).catch((error) => logger.warn({ err: error }, 'a replay has to wait'));
  }

  async function leave(group: Group, members: readonly Member[]): Promise<void> {
    group.members = group.members.filter((member) => !members.includes(member));
    for (const member of members) member.stopping.abort();
    await Promise.allSettled(members.flatMap((member) => [...member.running]));
  }

  return {
    async publish(batch) {
      const chains: Promise<void>[] = [];
      for (const [key, events] of byKey(batch))
        for (const group of groups.values())
          if (group.topics.has((events[0] as BusEvent).topic))
            chains.push(inOrder(`${group.name} ${key}`, () => deliver(group, events)));
      const results = await Promise.allSettled(chains);
      const failed = results.find((result) => result.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
    },
    async subscribe(subscription) {
      const group = groups.get(subscription.group) ?? {
        name: subscription.group,
        topics: new Set(),
        members: [],
        delivered: 0,
      };
      const member: Member = { ...subscription, stopping: new AbortController(), running: new Set() };
      for (const topic of subscription.topics) group.topics.add(topic);
      group.members = [...group.members, member];
      groups.set(group.name, group);
      if (deadLetters.requested !== undefined) looking ??= setInterval(look, options.replayLookMs ?? 1_000).unref();
      return { stop: () => leave(group, [member]) };
    },
    async close() {
      clearInterval(looking);
      stopCounting();
      await Promise.all([...groups.values()].map((group) => leave(group, group.members)));
      await replaying;
    },
  };
}

/** Runs the work of one chain in its order, after what was given before. */
function createChains() {
  const tails = new Map<string, Promise<void>>();
  return (chain: string, work: () => Promise<void>): Promise<void> => {
    const done = (tails.get(chain) ?? Promise.resolve()).catch(() => undefined).then(work);
    tails.set(chain, done);
    const forget = () => {
      if (tails.get(chain) === done) tails.delete(chain);
    };
    done.then(forget, forget);
    return done;
  };
}

/** Events of one topic and key, in their order. */
function byKey(batch: readonly BusEvent[]): Map<string, BusEvent[]> {
  const keys = new Map<string, BusEvent[]>();
  for (const event of batch) {
    const key = `${event.topic} ${event.key}`;
    const events = keys.get(key);
    if (events === undefined) keys.set(key, [event]);
    else events.push(event);
  }
  return keys;
}
