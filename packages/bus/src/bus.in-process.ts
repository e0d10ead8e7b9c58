import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { BatchHandler, Bus, BusEvent, SubscribeOptions } from './bus.js';
import {
  DEFAULT_RETRY,
  HandlerUnavailable,
  handleBatch,
  handleEvent,
  handlingMetrics,
  type RetryPolicy,
} from './handle-event.js';
import { together } from './together.js';

export interface InProcessBusOptions {
  logger: Logger;
  retry?: Partial<RetryPolicy>;
  metrics?: Metrics;
}

interface Member extends SubscribeOptions {
  /** By topic; empty without a batch handler. */
  batchHandlers: ReadonlyMap<string, BatchHandler>;
  stopping: AbortController;
  running: Set<Promise<unknown>>;
  endReplays: () => Promise<void>;
}

/** A group that subscribed once gets every later event: while it has no member, its events cannot be published. */
interface Group {
  name: string;
  topics: Set<string>;
  members: Member[];
  /** Events handed to its members, which take them in turn. */
  delivered: number;
}

/**
 * The bus of one process. It stores nothing. `publish` resolves when every group has handled the batch or made dead letters
 * of it, and rejects if a group's database is down. The outbox that feeds it survives a crash. Consumers subscribe
 * before the relay that feeds the bus is started.
 */
export function createInProcessBus(options: InProcessBusOptions): Bus {
  const { logger } = options;
  const groups = new Map<string, Group>();
  const inOrder = createChains();
  const retry = { ...DEFAULT_RETRY, ...options.retry };
  const metrics = options.metrics === undefined ? {} : { metrics: handlingMetrics(options.metrics) };

  const contextOf = (group: Group, { handler, deadLetters, stopping }: Member) => ({
    group: group.name,
    handler,
    retry,
    deadLetters,
    logger,
    signal: stopping.signal,
    ...metrics,
  });

  async function deliver(group: Group, events: readonly BusEvent[]): Promise<void> {
    for (const event of events) {
      const member = nextMember(group, event.topic);
      await running(member, handleEvent(event, contextOf(group, member)));
    }
  }

  /** Events of one topic and several keys, in one go where the group has a batch handler. */
  async function deliverBatch(group: Group, events: readonly BusEvent[], topic: string): Promise<void> {
    const member = nextMember(group, topic);
    const batchHandler = member.batchHandlers.get(topic);
    const isHandled =
      batchHandler !== undefined &&
      (await running(member, handleBatch(events, batchHandler, contextOf(group, member))));
    if (!isHandled) await deliver(group, events);
  }

  async function leave(group: Group, members: readonly Member[]): Promise<void> {
    group.members = group.members.filter((member) => !members.includes(member));
    for (const member of members) member.stopping.abort();
    await Promise.allSettled(members.flatMap((member) => [...member.running, member.endReplays()]));
  }

  return {
    async publish(batch) {
      const chains: Promise<void>[] = [];
      for (const [topic, events] of groupBy(batch, (event) => event.topic))
        for (const group of groups.values()) {
          if (!group.topics.has(topic)) continue;
          const keys = groupBy(events, (event) => chainOf(group, event));
          if (group.members.some(({ batchHandlers }) => batchHandlers.has(topic)))
            chains.push(inOrder([...keys.keys()], () => deliverBatch(group, events, topic)));
          else for (const [chain, some] of keys) chains.push(inOrder([chain], () => deliver(group, some)));
        }
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
      const member = memberOf(subscription);
      const { deadLetters, topics } = subscription;
      if (deadLetters !== undefined)
        member.endReplays = deadLetters.onReplay(group.name, topics, (event) =>
          inOrder([chainOf(group, event)], () => handleEvent(event, contextOf(group, member))),
        );
      for (const topic of topics) group.topics.add(topic);
      group.members = [...group.members, member];
      groups.set(group.name, group);
      return { stop: () => leave(group, [member]) };
    },
    async close() {
      await Promise.all([...groups.values()].map((group) => leave(group, group.members)));
    },
  };
}

function memberOf(subscription: SubscribeOptions): Member {
  const { batchHandler, topics } = subscription;
  const batchHandlers =
    batchHandler === undefined ? [] : topics.map((topic) => [topic, together(batchHandler)] as const);
  return {
    ...subscription,
    batchHandlers: new Map(batchHandlers),
    stopping: new AbortController(),
    running: new Set(),
    endReplays: async () => undefined,
  };
}

/** The members of a group take events in turn. */
function nextMember(group: Group, topic: string): Member {
  const interested = group.members.filter((member) => member.topics.includes(topic));
  group.delivered += 1;
  const member = interested[group.delivered % interested.length];
  if (member === undefined) throw new HandlerUnavailable(new Error(`the group ${group.name} has left`));
  return member;
}

/** Notes work of a member until it ends, so that a member that leaves waits for it. */
async function running<R>(member: Member, work: Promise<R>): Promise<R> {
  member.running.add(work);
  try {
    return await work;
  } finally {
    member.running.delete(work);
  }
}

const chainOf = (group: Group, event: BusEvent) => `${group.name} ${event.topic} ${event.key}`;

/** Runs work after all earlier work of its chains. */
function createChains() {
  const tails = new Map<string, Promise<unknown>>();
  return <T>(chains: readonly string[], work: () => Promise<T>): Promise<T> => {
    const done = Promise.allSettled(chains.map((chain) => tails.get(chain))).then(work);
    for (const chain of chains) tails.set(chain, done);
    const forget = () => {
      for (const chain of chains) if (tails.get(chain) === done) tails.delete(chain);
    };
    done.then(forget, forget);
    return done;
  };
}

/** Events by a text of each, in their order. */
function groupBy(events: readonly BusEvent[], textOf: (event: BusEvent) => string): Map<string, BusEvent[]> {
  const groups = new Map<string, BusEvent[]>();
  for (const event of events) {
    const text = textOf(event);
    const present = groups.get(text);
    if (present === undefined) groups.set(text, [event]);
    else present.push(event);
  }
  return groups;
}
