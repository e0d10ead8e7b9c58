import { createHash, randomUUID } from 'node:crypto';
import { TOPICS } from '@ecf/contracts';
import { storableText } from '@ecf/domain';
import type { Admin, KafkaMessage } from 'kafkajs';
import type { Logger } from '../../telemetry/logger.js';
import type { BusEvent } from '../bus.js';
import type { KafkaSettings } from '../bus-settings.js';
import { type DeadLetter, deadLetterTopic, type ReplayableDeadLetters } from '../dead-letters/dead-letters.js';
import { kafkaClients, type OpenKafka } from './kafka-client.js';
import { bodyAsText, type KafkaRecord, REPLAY_HEADER, textHeaders, toRecord } from './kafka-messages.js';
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
const READ_TIMEOUT_MS = 30_000;
const QUIET_FETCHES = 5;

/** Sizes to which the body of a refused message is cut. A header may have a twentieth of it. */
const SHORTER = [500_000, 5_000];
const LONGEST_ID = 500;
/** Headers that a cut message keeps: the others of a foreign message may be too long or too many. */
const KEPT_HEADERS = /^(ce_(specversion|id|type|source|time|subject)|content-type|traceparent|ecf_dead_[a-z]+)$/;

/**
 * Keeps a dead-letter message in `<topic>.dlq`: the original message, with the group and the reason as headers `ecf_dead_…`. If
 * the brokers refuse its size, its body is cut and a header says so. A message that cannot be kept would block its partition.
 */
export async function keepKafkaDeadLetter(
  deadLetter: DeadLetter,
  original: OriginalMessage | null,
  { producer, topics }: { producer: KafkaProducer; topics: KafkaTopics },
): Promise<void> {
  const { event } = deadLetter;
  await topics.ensure([event.topic]);
  const record = original === null ? toRecord(event, event.topic) : asItCame(event, original);
  const whole: KafkaRecord = {
    topic: topics.nameOf(deadLetterTopic(event.topic)),
    key: deadLetter.id,
    value: record.value,
    headers: {
      ...record.headers,
      [`${HEADER_PREFIX}topic`]: event.topic,
      [`${HEADER_PREFIX}key`]: event.key,
      [`${HEADER_PREFIX}group`]: deadLetter.group,
      [`${HEADER_PREFIX}reason`]: deadLetter.reason,
      [`${HEADER_PREFIX}attempts`]: String(deadLetter.attempts),
      [`${HEADER_PREFIX}time`]: deadLetter.time,
      ...(original === null
        ? {}
        : {
            [`${HEADER_PREFIX}partition`]: String(original.partition),
            [`${HEADER_PREFIX}offset`]: original.message.offset,
          }),
    },
  };
  let refusal: unknown;
  for (const form of forms(whole, deadLetter)) {
    try {
      return await producer.send([form]);
    } catch (error) {
      if (!isContentRefused(error)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

function* forms(whole: KafkaRecord, deadLetter: DeadLetter): Generator<KafkaRecord> {
  yield whole;
  for (const bytes of SHORTER) yield shortened(whole, deadLetter, bytes);
}

function shortened(whole: KafkaRecord, { id, group }: DeadLetter, bytes: number): KafkaRecord {
  const body = Buffer.from(whole.value ?? '');
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(whole.headers))
    if (KEPT_HEADERS.test(name)) headers[name] = storableText(text, bytes / 20);
  return {
    topic: whole.topic,
    key: id.length > LONGEST_ID ? `${createHash('sha256').update(id).digest('hex')}.${group}` : id,
    value: body.subarray(0, bytes),
    headers: { ...headers, [CUT]: String(body.length) },
  };
}

function asItCame(event: BusEvent, { message }: OriginalMessage): KafkaRecord {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(textHeaders(message.headers)))
    if (value !== undefined && name !== REPLAY_HEADER) headers[name] = value;
  // A body of null would delete the dead-letter message.
  return { topic: event.topic, key: event.key, value: message.value ?? '', headers };
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

  async function forget(deadLetter: DeadLetter): Promise<void> {
    const topic = topics.nameOf(deadLetterTopic(deadLetter.event.topic));
    await producer.send([{ topic, key: deadLetter.id, value: null, headers: {} }]);
    found.delete(deadLetter.id);
  }

  return {
    list,
    add: (deadLetter) => keepKafkaDeadLetter(deadLetter, null, { producer, topics }),
    async remove(id) {
      const present = await find(id);
      if (present !== undefined) await forget(present.deadLetter);
    },
    async replay(deadLetter) {
      const present = await find(deadLetter.id);
      if (present === undefined) throw new Error(`there is no dead-letter message ${deadLetter.id}`);
      const { event, incomplete } = present.deadLetter;
      if (incomplete === true)
        throw new Error(
          `the dead-letter message ${deadLetter.id} was too large to be kept whole: it can only be dismissed`,
        );
      const headers = { ...present.headers, [REPLAY_HEADER]: present.deadLetter.group };
      await producer.send([{ topic: topics.nameOf(event.topic), key: event.key, value: present.value, headers }]);
      await forget(present.deadLetter);
    },
    async close() {
      await producer.close();
    },
  };
}

interface FoundDeadLetter {
  readonly deadLetter: DeadLetter;
  /** The headers of the original message. */
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Buffer;
}

/** All dead-letter messages of topics. Topics that do not exist have none. */
export async function readKafkaDeadLetters(
  open: OpenKafka,
  topics: KafkaTopics,
  names: readonly string[],
): Promise<FoundDeadLetter[]> {
  const admin = (await open()).admin();
  await admin.connect();
  try {
    const present = new Set(await admin.listTopics());
    const wanted = names.map((name) => topics.nameOf(deadLetterTopic(name))).filter((name) => present.has(name));
    const deadLetters: FoundDeadLetter[] = [];
    const ends = await endsOf(admin, wanted);
    if (ends.size > 0) for (const message of await readToEnd(open, topics.nameOf(''), ends)) deadLetters.push(message);
    return deadLetters;
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** The offset after the last message, for each partition that has any. */
async function endsOf(admin: Admin, topics: readonly string[]): Promise<Map<string, bigint>> {
  const ends = new Map<string, bigint>();
  for (const topic of topics)
    for (const { partition, high, low } of await admin.fetchTopicOffsets(topic))
      if (BigInt(high) > BigInt(low)) ends.set(`${topic} ${partition}`, BigInt(high));
  return ends;
}

async function readToEnd(
  open: OpenKafka,
  prefix: string,
  ends: ReadonlyMap<string, bigint>,
): Promise<FoundDeadLetter[]> {
  const deadLetters = new Map<string, FoundDeadLetter | null>();
  const left = new Set(ends.keys());
  const client = await open();
  const consumer = client.consumer({
    groupId: `${prefix}dead-letter-reader-${randomUUID()}`,
    allowAutoTopicCreation: false,
    maxWaitTimeInMs: 200,
    retry: { retries: 4, initialRetryTime: 100, maxRetryTime: 1_000 },
  });
  let timer: NodeJS.Timeout | undefined;
  let quiet = 0;
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [...new Set([...ends.keys()].map(topicOfPlace))], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error('the dead-letter messages could not be read in time')),
        READ_TIMEOUT_MS,
      );
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      // Compaction leaves offsets without messages.
      consumer.on(consumer.events.FETCH, () => {
        quiet += 1;
        if (quiet > QUIET_FETCHES) resolve();
      });
      consumer
        .run({
          autoCommit: false,
          async eachBatch({ batch }) {
            for (const message of batch.messages) take(deadLetters, batch.topic, message);
            const place = `${batch.topic} ${batch.partition}`;
            if (BigInt(batch.lastOffset()) + 1n >= (ends.get(place) ?? 0n)) left.delete(place);
            quiet = 0;
            if (left.size === 0) resolve();
          },
        })
        .catch(reject);
    });
  } finally {
    clearTimeout(timer);
    await consumer.disconnect().catch(() => undefined);
  }
  return [...deadLetters.values()].filter((deadLetter) => deadLetter !== null);
}

function topicOfPlace(place: string): string {
  return place.slice(0, place.indexOf(' '));
}

function take(deadLetters: Map<string, FoundDeadLetter | null>, from: string, message: KafkaMessage): void {
  const id = message.key?.toString('utf8') ?? `${from}-${message.offset}`;
  deadLetters.set(`${from} ${id}`, message.value === null ? null : readDeadLetter(id, message, message.value));
}

function readDeadLetter(id: string, message: KafkaMessage, value: Buffer): FoundDeadLetter {
  const all = textHeaders(message.headers);
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(all))
    if (text !== undefined && !name.startsWith(HEADER_PREFIX)) headers[name] = text;
  const header = (name: string) => all[`${HEADER_PREFIX}${name}`] ?? '';
  const deadLetter: DeadLetter = {
    id,
    group: header('group'),
    reason: header('reason'),
    attempts: Number(header('attempts')),
    time: header('time'),
    ...(all[CUT] === undefined ? {} : { incomplete: true }),
    event: {
      id: headers.ce_id ?? id,
      type: headers.ce_type ?? 'unknown',
      source: headers.ce_source ?? 'unknown',
      time: headers.ce_time ?? '',
      subject: headers.ce_subject ?? '',
      ...(headers.traceparent === undefined ? {} : { traceparent: headers.traceparent }),
      topic: header('topic'),
      key: header('key'),
      data: bodyAsText(value),
    },
  };
  return { deadLetter, headers, value };
}
