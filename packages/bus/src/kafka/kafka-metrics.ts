import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { Admin } from 'kafkajs';
import { isOverWithin } from '../handle-event.js';
import { type OpenKafka, withAdmin } from './kafka-client.js';
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
  close(): Promise<void>;
}

/** Longer than this a scrape does not wait for the brokers; the values stay as they were. */
const TIMEOUT_MS = 1_000;

/**
 * Lag and connection of each group. Every member reports the numbers of the whole group, so that
 * they are right however many instances run: take the maximum over instances.
 */
export function createKafkaMetrics({ open, topics, metrics, logger }: KafkaMetricsOptions): KafkaMetrics {
  const labels = ['topic', 'group'] as const;
  const lag = metrics.gauge({
    name: 'ecf_consumer_lag',
    help: 'Events of a topic that a group has not handled yet',
    labels,
  });
  const up = metrics.gauge({
    name: 'ecf_consumer_connected',
    help: '1 where this process is a member of the group, 0 where it lost the brokers',
    labels,
  });
  /** The groups of each topic, with their names at the brokers. */
  const watched = new Map<string, Map<string, string>>();
  let measuring: Promise<void> | null = null;

  async function measureAll(): Promise<void> {
    try {
      await withAdmin(open, async (admin) => {
        for (const [topic, groups] of watched) await measureLag(admin, topic, groups);
      });
    } catch (error) {
      logger.debug({ err: error }, 'the lag cannot be looked up');
    }
  }

  async function measureLag(admin: Admin, topic: string, groups: ReadonlyMap<string, string>): Promise<void> {
    const name = topics.nameOf(topic);
    const ends = await admin.fetchTopicOffsets(name);
    for (const [group, groupId] of groups) {
      const [committed] = await admin.fetchOffsets({ groupId, topics: [name] });
      const next = new Map(committed?.partitions.map(({ partition, offset }) => [partition, Number(offset)]));
      let behind = 0;
      for (const { partition, high, low } of ends)
        behind += Number(high) - Math.max(Number(low), next.get(partition) ?? -1);
      lag.set({ topic, group }, behind);
    }
  }

  const stopRefreshing = metrics.onRender(async () => {
    measuring ??= measureAll().finally(() => {
      measuring = null;
    });
    await isOverWithin(TIMEOUT_MS, measuring);
  });

  return {
    watch(topic, group, brokerGroup) {
      watched.set(topic, (watched.get(topic) ?? new Map()).set(group, brokerGroup));
    },
    connected: (topic, group, connected) => up.set({ topic, group }, connected ? 1 : 0),
    async close() {
      stopRefreshing();
      await measuring;
    },
  };
}
