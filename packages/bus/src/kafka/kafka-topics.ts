import { randomBytes } from 'node:crypto';
import { identifierOf, SERVICE_NAMES, type ServiceName, TOPICS, type Topic, topicOf } from '@ecf/contracts';
import { retry } from '@ecf/kit';
import type { Logger } from '@ecf/kit/telemetry';
import type { AclEntry, Admin, ITopicConfig } from 'kafkajs';
import type { KafkaSettings } from '../bus-settings.js';
import { kafkaClients, loadKafka, type OpenKafka, withAdmin } from './kafka-client.js';
import { waitForLeaders } from './kafkajs-workarounds.js';

const CREATE_TIMEOUT_MS = 10_000;
/** Makes sure that topics exist, as the contracts describe them. */
export interface KafkaTopics {
  /** The name of a topic at the brokers. */
  nameOf(topic: string): string;
  /** Resolves when the topics exist; looks once for each. */
  ensure(topics: Iterable<string>): Promise<void>;
  /** The next `ensure` looks for these topics again: the brokers may have lost them. */
  forget(topics: Iterable<string>): void;
}

export interface KafkaTopicsOptions {
  open: OpenKafka;
  settings: Pick<KafkaSettings, 'KAFKA_TOPIC_PREFIX' | 'KAFKA_CREATE_TOPICS' | 'KAFKA_REPLICATION'>;
  logger: Logger;
}

/** Topics of a deployment. A topic that exists stays as it is; where it differs from the contracts, that is logged. */
export function createKafkaTopics({ open, settings, logger }: KafkaTopicsOptions): KafkaTopics {
  const present = new Set<string>();
  const nameOf = (topic: string) => `${settings.KAFKA_TOPIC_PREFIX ?? ''}${topic}`;
  let queue: Promise<unknown> = Promise.resolve();

  async function make(names: readonly string[]): Promise<void> {
    const topics = names.filter((name) => !present.has(name)).map(describe);
    if (topics.length === 0) return;
    const wanted = topics.map((topic) => configOf(topic, nameOf(topic.name), settings.KAFKA_REPLICATION ?? -1));
    await withAdmin(open, async (admin) => {
      const existing = new Set(await admin.listTopics());
      const missing = wanted.filter(({ topic }) => !existing.has(topic));
      if (missing.length > 0) await create(admin, missing);
      for (const topic of wanted) if (existing.has(topic.topic)) await compare(admin, topic, logger);
    });
    for (const { name } of topics) present.add(name);
  }

  async function create(admin: Admin, missing: ITopicConfig[]): Promise<void> {
    const names = missing.map(({ topic }) => topic);
    if (!settings.KAFKA_CREATE_TOPICS)
      throw new Error(`the brokers lack the topics ${names.join(', ')}; create them or set KAFKA_CREATE_TOPICS=true`);
    try {
      await admin.createTopics({ topics: missing, waitForLeaders: false, timeout: CREATE_TIMEOUT_MS });
      await waitForLeaders(admin, names);
      logger.info({ topics: names }, 'topics created');
    } catch (error) {
      throw new Error(`the topics ${names.join(', ')} cannot be created: ${reasonOf(error)}`, { cause: error });
    }
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
    forget(topics) {
      for (const topic of topics) present.delete(topic);
    },
  };
}

function configOf(topic: Topic, name: string, replication: number): ITopicConfig {
  const entries: Record<string, string> =
    topic.retention === 'compacted'
      ? { 'cleanup.policy': 'compact' }
      : { 'cleanup.policy': 'delete', 'retention.ms': String(topic.retention) };
  // acks=all waits for the replicas in sync: with three replicas, two of them must have the event.
  if (replication >= 3) entries['min.insync.replicas'] = '2';
  return {
    topic: name,
    numPartitions: topic.partitions,
    replicationFactor: replication,
    configEntries: Object.entries(entries).map(([name, value]) => ({ name, value })),
  };
}

const PREPARE_TIMEOUT_MS = 60_000;

/**
 * Makes all topics of the contracts before any service uses them; several services that make them at the same time delay each
 * other. With `grant` it also gives each service access to its topics, and to no other ({@link accessOf}); this needs the login of a
 * super user. A broker that has just started may need several attempts.
 */
export async function prepareTopics(settings: KafkaSettings, logger: Logger, { grant = false } = {}): Promise<void> {
  const open = kafkaClients(settings, logger);
  const topics = createKafkaTopics({ open, settings, logger });
  const names = Object.values(TOPICS).map(({ name }) => name);
  const { AclOperationTypes, AclPermissionTypes, AclResourceTypes, ResourcePatternTypes } = await loadKafka();
  const acl = SERVICE_NAMES.flatMap((service) =>
    accessOf(service, topics.nameOf).map(
      ({ resource, name, operation }): AclEntry => ({
        principal: `User:${brokerUser(service)}`,
        host: '*',
        permissionType: AclPermissionTypes.ALLOW,
        resourceType: AclResourceTypes[resource],
        resourceName: name,
        resourcePatternType: resource === 'GROUP' ? ResourcePatternTypes.PREFIXED : ResourcePatternTypes.LITERAL,
        operation: AclOperationTypes[operation],
      }),
    ),
  );
  const prepare = async () => {
    await topics.ensure(names);
    if (grant) await withAdmin(open, (admin) => admin.createAcls({ acl }));
  };
  await retry(prepare, {
    signal: AbortSignal.timeout(PREPARE_TIMEOUT_MS),
    onFailure: (error) => logger.info({ err: error }, 'the topics are not ready yet'),
  });
}

/** The user of a service at the brokers. */
export function brokerUser(service: ServiceName): string {
  return identifierOf(service);
}

/** New passwords of the users at the brokers of a deployment: one for each service and for the super user `admin`. */
export function makeBrokerPasswords(): Record<string, string> {
  const users = ['admin', ...SERVICE_NAMES.map(brokerUser)];
  return Object.fromEntries(users.map((user) => [user, randomBytes(24).toString('hex')]));
}

/** What a service may do at the brokers: write the topics that it publishes and read those it consumes, in its own groups. */
function accessOf(service: ServiceName, nameOf: (name: string) => string) {
  const topics = Object.values<Topic>(TOPICS);
  const access = (operation: 'WRITE' | 'READ' | 'DESCRIBE_CONFIGS', chosen: readonly Topic[]) =>
    chosen.map(({ name }) => ({ resource: 'TOPIC' as const, name: nameOf(name), operation }));
  const published = topics.filter(({ producers }) => producers.includes(service));
  const consumed = topics.filter(({ consumers }) => consumers.includes(service));
  return [
    ...access('WRITE', published),
    ...access('READ', consumed),
    ...access('DESCRIBE_CONFIGS', [...published, ...consumed]),
    { resource: 'GROUP' as const, name: nameOf(service), operation: 'READ' as const },
  ];
}

function describe(name: string): Topic {
  const topic = topicOf(name);
  if (topic === undefined) throw new RangeError(`there is no topic ${name}`);
  return topic;
}

async function compare(admin: Admin, wanted: ITopicConfig, logger: Logger): Promise<void> {
  const { topic, numPartitions, configEntries = [] } = wanted;
  const { topics } = await admin.fetchTopicMetadata({ topics: [topic] });
  const partitions = topics[0]?.partitions.length;
  if (partitions !== numPartitions)
    logger.warn(
      { topic, partitions, expected: numPartitions },
      'a topic has another number of partitions than expected',
    );
  const { ConfigResourceTypes } = await loadKafka();
  const configNames = configEntries.map(({ name }) => name);
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: [{ type: ConfigResourceTypes.TOPIC, name: topic, configNames }],
  });
  const values = new Map(resources[0]?.configEntries.map((entry) => [entry.configName, entry.configValue]));
  for (const { name, value } of configEntries) {
    const found = values.get(name);
    if (found !== undefined && found !== value)
      logger.warn(
        { topic, setting: name, value: found, expected: value },
        'a setting of a topic differs from the expected',
      );
  }
}

function reasonOf(error: unknown): string {
  const errors = (error as { errors?: unknown[] }).errors ?? [error];
  return [...new Set(errors.map((each) => (each instanceof Error ? each.message : String(each))))].join('; ');
}
