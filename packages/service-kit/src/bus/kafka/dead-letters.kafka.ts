import { randomUUID } from 'node:crypto';
import { TOPICS } from '@ecf/contracts';
import type { EachMessagePayload, KafkaMessage } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.js';
import type { KafkaSettings } from '../bus-settings.js';
import { type DeadLetter, deadLetterTopic, type ReplayableDeadLetters } from '../dead-letters/dead-letters.js';
import { kafkaClients, type OpenKafka, withAdmin } from './kafka-client.js';
import { attributesOf, bodyAsText, type KafkaRecord, REPLAY_HEADER, textHeaders } from './kafka-messages.js';
import { createKafkaProducer, isContentRefused, type KafkaProducer } from './kafka-producer.js';
import { createKafkaTopics, type KafkaTopics } from './kafka-topics.js';

/** The message as the brokers gave it: its dead-letter message keeps the same bytes. */
export interface OriginalMessage {
  readonly message: Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'offset'>;
  readonly partition: number;
}

const HEADER_PREFIX = 'ecf_dead_';
/** Header with the original size of a body that was cut. */
const CUT = `${HEADER_PREFIX}cut`;
const CUT_BODY_BYTES = 10_000;
const CUT_HEADER_LENGTH = 2_000;
const READ_TIMEOUT_MS = 30_000;
const QUIET_FETCHES = 5;

/**
 * Keeps a dead-letter message in `<topic>.dlq`: the original message, with the group and the reason as headers `ecf_dead_…`. If
 * the brokers refuse its size, only these headers and the start of the body are kept. A message that cannot be kept would
 * block its partition.
 */
export async function keepKafkaDeadLetter(
  deadLetter: DeadLetter,
  { message, partition }: OriginalMessage,
  { producer, topics }: { producer: KafkaProducer; topics: KafkaTopics },
): Promise<void> {
  const { id, event, group, reason, attempts, time } = deadLetter;
  const { offset } = message;
  const about = { topic: event.topic, key: event.key, group, reason, attempts, time, partition, offset };
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(about)) headers[`${HEADER_PREFIX}${name}`] = String(value);
  // A body of null would delete the dead-letter message.
  const value = message.value ?? Buffer.alloc(0);
  const record = { topic: topics.nameOf(deadLetterTopic(event.topic)), key: id };
  try {
    await producer.send([{ ...record, value, headers: { ...textHeaders(message.headers), ...headers } }]);
  } catch (error) {
    if (!isContentRefused(error)) throw error;
    const cut: Record<string, string> = { [CUT]: String(value.length) };
    for (const [name, text] of Object.entries(headers)) cut[name] = text.slice(0, CUT_HEADER_LENGTH);
    // The place of the message stands for an id that is too long, so no other dead letter has this key.
    const key = id.length > CUT_HEADER_LENGTH ? `${event.topic}-${partition}-${offset}.${group}` : id;
    await producer.send([{ ...record, key, value: value.subarray(0, CUT_BODY_BYTES), headers: cut }]);
  }
}

/** The dead-letter messages of a Kafka deployment, for operators. */
export interface KafkaDeadLetters extends ReplayableDeadLetters {
  close(): Promise<void>;
}

/**
 * Opens the dead-letter messages at the brokers. `replay` publishes the message to its topic again, marked for the group that
 * failed, and then deletes the dead-letter message. If the event fails again, it becomes a dead-letter message again.
 */
export function openKafkaDeadLetters(settings: KafkaSettings, logger: Logger): KafkaDeadLetters {
  const open = kafkaClients(settings, logger);
  const topics = createKafkaTopics({ open, settings, logger });
  const producer = createKafkaProducer(open);
  const found = new Map<string, FoundDeadLetter>();

  async function find(id: string): Promise<FoundDeadLetter | undefined> {
    if (!found.has(id)) await list();
    return found.get(id);
  }

  async function list(topic?: string): Promise<DeadLetter[]> {
    const names = topic === undefined ? Object.values(TOPICS).map(({ name }) => name) : [topic];
    const deadLetters = await readKafkaDeadLetters(open, topics, names);
    for (const each of deadLetters) found.set(each.deadLetter.id, each);
    return deadLetters.map(({ deadLetter }) => deadLetter).sort((a, b) => a.time.localeCompare(b.time));
  }

  async function forget({ id, event }: DeadLetter): Promise<void> {
    await producer.send([{ topic: topics.nameOf(deadLetterTopic(event.topic)), key: id, value: null, headers: {} }]);
    found.delete(id);
  }

  return {
    list,
    async remove(id) {
      const present = await find(id);
      if (present !== undefined) await forget(present.deadLetter);
    },
    async replay({ id }) {
      const present = await find(id);
      if (present === undefined) throw new Error(`there is no dead-letter message ${id}`);
      const { event, group, incomplete } = present.deadLetter;
      if (incomplete === true)
        throw new Error(`the dead-letter message ${id} was too large to be kept whole: it can only be dismissed`);
      const headers = { ...present.headers, [REPLAY_HEADER]: group };
      await producer.send([{ topic: topics.nameOf(event.topic), key: event.key, value: present.value, headers }]);
      await forget(present.deadLetter);
    },
    close: producer.close,
  };
}

interface FoundDeadLetter {
  readonly deadLetter: DeadLetter;
  /** The headers of the original message. */
  readonly headers: KafkaRecord['headers'];
  readonly value: Buffer;
}

/** All dead-letter messages of topics. Topics that do not exist have none. */
export async function readKafkaDeadLetters(
  open: OpenKafka,
  topics: KafkaTopics,
  names: readonly string[],
): Promise<FoundDeadLetter[]> {
  const wanted = names.map((name) => topics.nameOf(deadLetterTopic(name)));
  const ends = await withAdmin(open, async (admin) => {
    const present = await admin.listTopics();
    const found = new Map<string, bigint>();
    for (const topic of wanted.filter((name) => present.includes(name)))
      for (const { partition, high, low } of await admin.fetchTopicOffsets(topic))
        if (BigInt(high) > BigInt(low)) found.set(`${topic} ${partition}`, BigInt(high));
    return found;
  });
  return ends.size === 0 ? [] : readToEnd(open, topics.nameOf(`dead-letter-reader-${randomUUID()}`), ends);
}

/** Reads the topics up to the offsets in `ends`, by topic and partition. */
async function readToEnd(open: OpenKafka, groupId: string, ends: Map<string, bigint>): Promise<FoundDeadLetter[]> {
  const deadLetters = new Map<string, FoundDeadLetter>();
  const topics = [...new Set([...ends.keys()].map((place) => place.slice(0, place.lastIndexOf(' '))))];
  const consumer = (await open()).consumer({ groupId, allowAutoTopicCreation: false, maxWaitTimeInMs: 200 });
  let timer: NodeJS.Timeout | undefined;
  let quiet = 0;
  try {
    await consumer.connect();
    await consumer.subscribe({ topics, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      const late = new Error('the dead-letter messages could not be read in time');
      timer = setTimeout(reject, READ_TIMEOUT_MS, late);
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      // Compaction leaves offsets without messages.
      consumer.on(consumer.events.FETCH, () => {
        quiet += 1;
        if (quiet > QUIET_FETCHES) resolve();
      });
      const eachMessage = async ({ topic, partition, message }: EachMessagePayload) => {
        quiet = 0;
        take(deadLetters, topic, message);
        const place = `${topic} ${partition}`;
        if (BigInt(message.offset) + 1n >= (ends.get(place) ?? 0n)) ends.delete(place);
        if (ends.size === 0) resolve();
      };
      consumer.run({ autoCommit: false, eachMessage }).catch(reject);
    });
  } finally {
    clearTimeout(timer);
    await consumer.disconnect().catch(() => undefined);
  }
  return [...deadLetters.values()];
}

function take(deadLetters: Map<string, FoundDeadLetter>, from: string, message: KafkaMessage): void {
  const id = message.key?.toString('utf8') ?? `${from}-${message.offset}`;
  if (message.value === null) deadLetters.delete(`${from} ${id}`);
  else deadLetters.set(`${from} ${id}`, readDeadLetter(id, message, message.value));
}

function readDeadLetter(id: string, message: KafkaMessage, value: Buffer): FoundDeadLetter {
  const all = textHeaders(message.headers);
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(all)) if (!name.startsWith(HEADER_PREFIX)) headers[name] = text;
  const about = (name: string) => all[`${HEADER_PREFIX}${name}`] ?? '';
  const deadLetter: DeadLetter = {
    id,
    group: about('group'),
    reason: about('reason'),
    attempts: Number(about('attempts')),
    time: about('time'),
    ...(all[CUT] === undefined ? {} : { incomplete: true }),
    event: {
      ...attributesOf(headers),
      id: headers.ce_id ?? id,
      topic: about('topic'),
      key: about('key'),
      data: bodyAsText(value),
    },
  };
  return { deadLetter, headers, value };
}
