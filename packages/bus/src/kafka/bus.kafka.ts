import { topicOf } from '@ecf/contracts';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { KafkaMessage } from 'kafkajs';
import { type Bus, type BusEvent, EventRefused, type SubscribeOptions, type Subscription } from '../bus.js';
import type { KafkaSettings } from '../bus-settings.js';
import { EventError } from '../events.js';
import {
  DEFAULT_RETRY,
  handleBatch,
  handleEvent,
  handlingMetrics,
  isOverWithin,
  keepDeadLetter,
  type RetryPolicy,
} from '../handle-event.js';
import { together } from '../together.js';
import { kafkaClients } from './kafka-client.js';
import { type KafkaConsumer, startKafkaConsumer } from './kafka-consumer.js';
import { describeUnreadable, readEvent, toRecord } from './kafka-messages.js';
import { createKafkaMetrics } from './kafka-metrics.js';
import { createKafkaProducer, isContentRefused, isTopicMissing } from './kafka-producer.js';
import { createKafkaTopics } from './kafka-topics.js';
import { brokerGroupOf } from './kafkajs-workarounds.js';

export interface KafkaBusOptions {
  settings: KafkaSettings;
  logger: Logger;
  metrics?: Metrics;
  retry?: Partial<RetryPolicy>;
}

/** Longest wait for a group to join: brokers may be unavailable, and a killed member stays until its session ends. */
const JOIN_TIMEOUT_MS = 2_000;

/**
 * The bus over Kafka. `publish` resolves when all in-sync replicas have the batch. Each topic of a subscription has its own
 * consumer group, `<group>.<topic>`. All members of a group must read the same topics, and one topic must not delay another.
 * A new group starts with the oldest message. Connections open on first use.
 */
export function createKafkaBus({ settings, logger, ...options }: KafkaBusOptions): Bus {
  const open = kafkaClients(settings, logger);
  const topics = createKafkaTopics({ open, settings, logger });
  const producer = createKafkaProducer(open);
  const retry = { ...DEFAULT_RETRY, ...options.retry };
  const metrics =
    options.metrics === undefined ? null : createKafkaMetrics({ open, topics, metrics: options.metrics, logger });
  const counting = options.metrics === undefined ? {} : { metrics: handlingMetrics(options.metrics) };
  const consumers = new Set<KafkaConsumer>();

  function join(topic: string, { group, handler, batchHandler, deadLetters }: SubscribeOptions): KafkaConsumer {
    const description = topicOf(topic);
    if (description === undefined) throw new EventError(`there is no topic ${topic}`);
    const brokerGroup = topics.nameOf(brokerGroupOf(group, topic));
    metrics?.watch(topic, group, brokerGroup);
    const shared = batchHandler === undefined ? null : together(batchHandler);
    const context = { group, deadLetters, logger, retry, ...counting };
    const stopping = new AbortController();

    async function handle(message: KafkaMessage, partition: number, signal: AbortSignal): Promise<void> {
      let event: BusEvent;
      try {
        event = readEvent(topic, message);
      } catch (error) {
        return keepDeadLetter(describeUnreadable(topic, partition, message), 1, error, context);
      }
      await handleEvent(event, { ...context, handler, signal });
    }

    /** Unreadable messages are handled one by one. */
    async function handleTogether(messages: readonly KafkaMessage[]): Promise<boolean> {
      if (shared === null) return false;
      let events: BusEvent[];
      try {
        events = messages.map((message) => readEvent(topic, message));
      } catch {
        return false;
      }
      return handleBatch(events, shared, context);
    }

    const endReplays = deadLetters?.onReplay(group, [topic], (event) =>
      handleEvent(event, { ...context, handler, signal: stopping.signal }),
    );
    const consumer = startKafkaConsumer({
      open,
      topic: topics.nameOf(topic),
      group: brokerGroup,
      partitions: description.partitions,
      logger,
      prepare: () => {
        topics.forget([topic]);
        return topics.ensure([topic]);
      },
      handle,
      handleTogether,
      onConnected: (connected) => metrics?.connected(topic, group, connected),
    });
    return {
      joined: consumer.joined,
      async stop() {
        stopping.abort();
        await Promise.all([consumer.stop(), endReplays?.()]);
      },
    };
  }

  async function leave(members: readonly KafkaConsumer[]): Promise<void> {
    for (const member of members) consumers.delete(member);
    await Promise.all(members.map((member) => member.stop()));
  }

  return {
    async publish(batch) {
      const named = new Set(batch.map((event) => event.topic));
      await topics.ensure(named);
      const records = batch.map((event) => toRecord(event, topics.nameOf(event.topic)));
      await producer.send(records).catch((error) => {
        if (isTopicMissing(error)) topics.forget(named);
        throw isContentRefused(error) ? new EventRefused(error) : error;
      });
    },
    async subscribe(subscription): Promise<Subscription> {
      const members = subscription.topics.map((topic) => join(topic, subscription));
      for (const member of members) consumers.add(member);
      await isOverWithin(JOIN_TIMEOUT_MS, Promise.all(members.map((member) => member.joined)));
      return { stop: () => leave(members) };
    },
    async close() {
      await leave([...consumers]);
      await producer.close();
      await metrics?.close();
    },
  };
}
