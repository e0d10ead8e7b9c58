import type { Admin } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.js';
import type { Metrics } from '../../telemetry/metrics.js';
import { deadLetterGauge } from '../dead-letters/dead-letter-metrics.js';
import { type DeadLetter, deadLetterTopic } from '../dead-letters/dead-letters.js';
import { readKafkaDeadLetters } from './dead-letters.kafka.js';
import type { OpenKafka } from './kafka-client.js';
import type { KafkaTopics } from './kafka-topics.js';

export interface KafkaMetricsOptions {
  open: OpenKafka;
  topics: KafkaTopics;
  metrics: Metrics;
  logger: Logger;
}

/** The metrics of the groups that this process is a member of. */
export interface KafkaMetrics {
  /** `brokerGroup` is the group's name at the brokers. */
  watch(topic: string, group: string, brokerGroup: string): void;
  connected(topic: string, group: string, connected: boolean): void;
  /** Counts an event that no producer of the topic has signed. */
  foreign(topic: string, group: string): void;
  close(): Promise<void>;
}

interface Watched {
  readonly topic: string;
  readonly group: string;
  readonly brokerGroup: string;
}

/** Longer than this a scrape does not wait for the brokers; the values stay as they were. */
const TIMEOUT_MS = 1_000;

/**
 * Lag, dead-letter messages and connection of each group. Every member reports the numbers of the whole group, so that they are right
 * however many instances run: take the maximum over instances.
 */
export function createKafkaMetrics({ open, topics, metrics, logger }: KafkaMetricsOptions): KafkaMetrics {
  const labels = ['topic', 'group'] as const;
  const lag = metrics.gauge({
    name: 'ecf_consumer_lag',
    help: 'Events of a topic that a group has not handled yet',
    labels,
  });
  const deadLetters = deadLetterGauge(metrics);
  const up = metrics.gauge({
    name: 'ecf_consumer_connected',
    help: '1 where this process is a member of the group, 0 where it lost the brokers',
    labels,
  });
  const foreign = metrics.counter({
    name: 'ecf_foreign_events_total',
    help: 'Events that no producer of their topic has signed; they become dead-letter messages',
    labels,
  });
  const watched = new Map<string, Watched>();
  const counted = new Map<string, string>();
  let admin: Admin | null = null;
  let looking: Promise<void> | null = null;

  async function look(): Promise<void> {
    try {
      if (admin === null) {
        const fresh = (await open()).admin({ retry: { retries: 1 } });
        await fresh.connect();
        admin = fresh;
      }
      for (const topic of new Set([...watched.values()].map((each) => each.topic))) await lookAt(admin, topic);
    } catch (error) {
      logger.debug({ err: error }, 'lag and dead-letter messages cannot be looked up');
      await admin?.disconnect().catch(() => undefined);
      admin = null;
    }
  }

  async function lookAt(client: Admin, topic: string): Promise<void> {
    const name = topics.nameOf(topic);
    const ends = await client.fetchTopicOffsets(name);
    for (const { group, brokerGroup } of groupsOf(topic)) {
      const [committed] = await client.fetchOffsets({ groupId: brokerGroup, topics: [name] });
      const next = new Map(committed?.partitions.map(({ partition, offset }) => [partition, BigInt(offset)]));
      let behind = 0n;
      for (const { partition, high, low } of ends) {
        const offset = next.get(partition) ?? -1n;
        behind += BigInt(high) - (offset < BigInt(low) ? BigInt(low) : offset);
      }
      lag.set({ topic, group }, Number(behind));
    }
    const dead = topics.nameOf(deadLetterTopic(topic));
    const [end] = await client.fetchTopicOffsets(dead);
    // Reading the dead-letter messages takes a consumer: only where something was added or taken since.
    if (counted.get(topic) === end?.high) return;
    const present = (await readKafkaDeadLetters(open, topics, [topic])).map(({ deadLetter }) => deadLetter);
    for (const { group } of groupsOf(topic)) deadLetters.set({ topic, group }, countOf(present, group));
    counted.set(topic, end?.high ?? '');
  }

  function groupsOf(topic: string): Watched[] {
    return [...watched.values()].filter((each) => each.topic === topic);
  }

  const stopRefreshing = metrics.onRender(async () => {
    looking ??= look().finally(() => {
      looking = null;
    });
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, TIMEOUT_MS);
    });
    await Promise.race([looking, late]);
    clearTimeout(timer);
  });

  return {
    watch(topic, group, brokerGroup) {
      watched.set(brokerGroup, { topic, group, brokerGroup });
      counted.delete(topic);
    },
    foreign: (topic, group) => foreign.inc({ topic, group }),
    connected: (topic, group, connected) => up.set({ topic, group }, connected ? 1 : 0),
    async close() {
      stopRefreshing();
      await looking;
      await admin?.disconnect().catch(() => undefined);
      admin = null;
    },
  };
}

function countOf(deadLetters: readonly DeadLetter[], group: string): number {
  return deadLetters.filter((deadLetter) => deadLetter.group === group).length;
}
