import { setTimeout as delay } from 'node:timers/promises';
import { TOPICS, type Topic, topicOf } from '@ecf/contracts';
import type { Admin, ITopicConfig } from 'kafkajs';
import { deadLetterTopic } from '../../dead-letters/dead-letters.js';
import type { Logger } from '../../telemetry/logger.js';
import type { KafkaSettings } from '../bus-settings.js';
import { kafkaClients, loadKafka, type OpenKafka } from './kafka-client.js';

const LEADERS_MS = 15_000;
/** A letter is a message of the usual limit of 1 MiB and what is to be said of it. */
const MAX_LETTER_BYTES = 2 * 1_048_576;
const LIMIT = 'max.message.bytes';

/** Makes sure that topics are there, as the contracts describe them. */
export interface KafkaTopics {
  /** The name of a topic, or of where its dead letters are kept, at the brokers. */
  nameOf(topic: string): string;
  /** Resolves when the topics and their dead letter topics exist; asks once for each. */
  ensure(topics: Iterable<string>): Promise<void>;
}

export interface KafkaTopicsOptions {
  open: OpenKafka;
  settings: Pick<KafkaSettings, 'KAFKA_TOPIC_PREFIX' | 'KAFKA_CREATE_TOPICS' | 'KAFKA_REPLICATION'>;
  logger: Logger;
}

/**
 * Topics of a deployment. A topic that exists is left as it is, but for a limit that is too low for dead letters; where it
 * differs from the contracts, that is logged.
 */
export function createKafkaTopics({ open, settings, logger }: KafkaTopicsOptions): KafkaTopics {
  const present = new Set<string>();
  const nameOf = (topic: string) => `${settings.KAFKA_TOPIC_PREFIX ?? ''}${topic}`;
  let queue: Promise<unknown> = Promise.resolve();

  async function make(names: readonly string[]): Promise<void> {
    const topics = names.filter((name) => !present.has(name)).map(describe);
    if (topics.length === 0) return;
    const wanted = topics.flatMap((topic) => [describeTopic(topic), describeDeadLetters(topic)]);
    const admin = (await open()).admin();
    await admin.connect();
    try {
      const there = new Set(await admin.listTopics());
      const missing = wanted.filter(({ topic }) => !there.has(topic));
      if (missing.length > 0) await create(admin, missing);
      for (const topic of wanted) {
        if (!there.has(topic.topic)) continue;
        if (settings.KAFKA_CREATE_TOPICS) await raiseLimit(admin, topic, logger);
        await compare(admin, topic, logger);
      }
    } finally {
      await admin.disconnect().catch(() => undefined);
    }
    for (const { name } of topics) present.add(name);
  }

  async function create(admin: Admin, missing: ITopicConfig[]): Promise<void> {
    const names = missing.map(({ topic }) => topic);
    if (!settings.KAFKA_CREATE_TOPICS)
      throw new Error(`the brokers lack the topics ${names.join(', ')}; create them or set KAFKA_CREATE_TOPICS=true`);
    try {
      await admin.createTopics({ topics: missing, waitForLeaders: false, timeout: 10_000 });
      await awaitLeaders(admin, names);
      logger.info({ topics: names }, 'topics created');
    } catch (error) {
      throw new Error(`the topics ${names.join(', ')} cannot be created: ${reasonOf(error)}`, { cause: error });
    }
  }

  function describeTopic(topic: Topic): ITopicConfig {
    const retention: Record<string, string> =
      topic.retention === 'compacted'
        ? { 'cleanup.policy': 'compact' }
        : { 'cleanup.policy': 'delete', 'retention.ms': String(topic.retention) };
    return topicConfig(nameOf(topic.name), topic.partitions, retention);
  }

  /** The key is the letter, and a replay or dismissal deletes it: so letters are kept until then, and no longer. */
  function describeDeadLetters(topic: Topic): ITopicConfig {
    const settings = { 'cleanup.policy': 'compact', [LIMIT]: String(MAX_LETTER_BYTES) };
    return topicConfig(nameOf(deadLetterTopic(topic.name)), 1, settings);
  }

  function topicConfig(topic: string, numPartitions: number, config: Record<string, string>): ITopicConfig {
    const replication = settings.KAFKA_REPLICATION ?? -1;
    // acks=all waits for those that are in sync: with three copies, two of them have to have it.
    const entries = replication >= 3 ? { ...config, 'min.insync.replicas': '2' } : config;
    return {
      topic,
      numPartitions,
      replicationFactor: replication,
      configEntries: Object.entries(entries).map(([name, value]) => ({ name, value })),
    };
  }

  return {
    nameOf,
    ensure(topics) {
      const names = [...topics];
      if (names.every((name) => present.has(name))) return Promise.resolve();
      const made = queue.then(() => make(names));
      queue = made.catch(() => undefined);
      return made;
    },
  };
}

const PREPARE_TRIES = 6;
const PREPARE_PAUSE_MS = 500;

/**
 * Makes all topics of the contracts before anybody uses them; several that are made at once by services delay each other.
 * A broker that has just come up, or has much to do, may need several tries: what it made meanwhile is found.
 */
export async function prepareTopics(settings: KafkaSettings, logger: Logger): Promise<void> {
  const topics = createKafkaTopics({ open: kafkaClients(settings, logger), settings, logger });
  const names = Object.values(TOPICS).map(({ name }) => name);
  for (let tries = 1; ; tries += 1) {
    try {
      return await topics.ensure(names);
    } catch (error) {
      if (tries === PREPARE_TRIES) throw error;
      logger.info({ err: error }, 'the topics are looked at again');
      await delay(PREPARE_PAUSE_MS);
    }
  }
}

function describe(name: string): Topic {
  const topic = topicOf(name);
  if (topic === undefined) throw new RangeError(`there is no topic ${name}`);
  return topic;
}

/** A broker under load knows a topic some time before it hosts its partitions. */
async function awaitLeaders(admin: Admin, names: string[]): Promise<void> {
  const end = performance.now() + LEADERS_MS;
  while (true) {
    try {
      const { topics } = await admin.fetchTopicMetadata({ topics: names });
      if (topics.every(({ partitions }) => partitions.every(({ leader }) => leader >= 0))) return;
    } catch (error) {
      if (performance.now() > end) throw error;
    }
    if (performance.now() > end) throw new Error('not all partitions have a leader');
    await delay(50);
  }
}

/** An earlier version made topics of dead letters with the limit of all others. */
async function raiseLimit(admin: Admin, wanted: ITopicConfig, logger: Logger): Promise<void> {
  const limit = wanted.configEntries?.find(({ name }) => name === LIMIT);
  if (limit === undefined) return;
  const { ConfigResourceTypes, ConfigSource } = await loadKafka();
  const resource = { type: ConfigResourceTypes.TOPIC, name: wanted.topic };
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource] });
  const present = resources[0]?.configEntries ?? [];
  const known = present.find(({ configName }) => configName === LIMIT)?.configValue;
  if (known === undefined || Number(known) >= Number(limit.value)) return;
  // The request replaces whatever was set for the topic.
  const kept = present
    .filter(({ configName, configSource }) => configName !== LIMIT && configSource === ConfigSource.TOPIC_CONFIG)
    .map(({ configName, configValue }) => ({ name: configName, value: configValue }));
  try {
    const configEntries = [...kept, { name: LIMIT, value: limit.value }];
    await admin.alterConfigs({ validateOnly: false, resources: [{ ...resource, configEntries }] });
    logger.info({ topic: wanted.topic, setting: LIMIT, value: limit.value }, 'the limit of a topic was raised');
  } catch (error) {
    logger.warn({ err: error, topic: wanted.topic, setting: LIMIT }, 'the limit of a topic cannot be raised');
  }
}

async function compare(admin: Admin, wanted: ITopicConfig, logger: Logger): Promise<void> {
  const { ConfigResourceTypes } = await loadKafka();
  const { topics } = await admin.fetchTopicMetadata({ topics: [wanted.topic] });
  const partitions = topics[0]?.partitions.length;
  if (partitions !== wanted.numPartitions)
    logger.warn(
      { topic: wanted.topic, partitions, expected: wanted.numPartitions },
      'a topic has another number of partitions than the contracts say',
    );
  const entries = wanted.configEntries ?? [];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [
      {
        type: ConfigResourceTypes.TOPIC,
        name: wanted.topic,
        configNames: entries.map(({ name }) => name),
      },
    ],
  });
  const present = new Map(resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]));
  for (const { name, value } of entries)
    if (
      present.has(name) &&
      present.get(name) !== value &&
      !(name === LIMIT && Number(present.get(name)) > Number(value))
    )
      logger.warn(
        { topic: wanted.topic, setting: name, value: present.get(name), expected: value },
        'a topic is set otherwise than the contracts say',
      );
}

function reasonOf(error: unknown): string {
  const errors = (error as { errors?: unknown[] }).errors ?? [error];
  return [...new Set(errors.map((each) => (each instanceof Error ? each.message : String(each))))].join('; ');
}
