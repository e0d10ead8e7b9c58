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

/** Where a message came from, for letters that keep it byte by byte. */
export interface OriginalMessage {
  readonly message: Pick<KafkaMessage, 'key' | 'value' | 'headers' | 'offset'>;
  readonly partition: number;
}

const LETTER = 'ecf_dead_';
/** Of a letter whose body was cut: how many bytes it had. */
const CUT = `${LETTER}cut`;
const READ_TIMEOUT_MS = 30_000;
const QUIET_FETCHES = 5;

/** Bytes of a body, and a twentieth of it for a header, that are kept of what brokers will not take as it came. */
const SHORTER = [500_000, 5_000];
const LONGEST_ID = 500;
/** Of a foreign message anything may be too long or too many: these are what a letter is known by. */
const KEPT_HEADERS = /^(ce_(specversion|id|type|source|time|subject)|content-type|traceparent|ecf_dead_[a-z]+)$/;

/**
 * Keeps a letter in `<topic>.dlq`: the message as it came, with the group and the reason as headers `ecf_dead_…`. What the
 * brokers refuse for its size is kept with its body cut, which a header says: a letter that could not be kept would hold
 * its partition back for good.
 */
export async function keepKafkaLetter(
  letter: DeadLetter,
  original: OriginalMessage | null,
  { producer, topics }: { producer: KafkaProducer; topics: KafkaTopics },
): Promise<void> {
  const { event } = letter;
  await topics.ensure([event.topic]);
  const record = original === null ? toRecord(event, event.topic) : asItCame(event, original);
  const whole: KafkaRecord = {
    topic: topics.nameOf(deadLetterTopic(event.topic)),
    key: letter.id,
    value: record.value,
    headers: {
      ...record.headers,
      [`${LETTER}topic`]: event.topic,
      [`${LETTER}key`]: event.key,
      [`${LETTER}group`]: letter.group,
      [`${LETTER}reason`]: letter.reason,
      [`${LETTER}attempts`]: String(letter.attempts),
      [`${LETTER}time`]: letter.time,
      ...(original === null
        ? {}
        : {
            [`${LETTER}partition`]: String(original.partition),
            [`${LETTER}offset`]: original.message.offset,
          }),
    },
  };
  let refusal: unknown;
  for (const form of forms(whole, letter)) {
    try {
      return await producer.send([form]);
    } catch (error) {
      if (!isContentRefused(error)) throw error;
      refusal = error;
    }
  }
  throw refusal;
}

function* forms(whole: KafkaRecord, letter: DeadLetter): Generator<KafkaRecord> {
  yield whole;
  for (const bytes of SHORTER) yield shortened(whole, letter, bytes);
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
  // A body of null would delete the letter instead of keeping it.
  return { topic: event.topic, key: event.key, value: message.value ?? '', headers };
}

/** The dead letters of a Kafka deployment, for those who look after them. */
export interface KafkaDeadLetters extends ReplayableDeadLetters {
  close(): Promise<void>;
}

/**
 * Opens the dead letters of the brokers of the settings. `replay` publishes the message to its topic again, marked for the
 * group that failed, and then deletes the letter; what fails again becomes a letter again.
 */
export function openKafkaDeadLetters(settings: KafkaSettings, logger: Logger): KafkaDeadLetters {
  const open = kafkaClients(settings, logger);
  const topics = createKafkaTopics({ open, settings, logger });
  const producer = createKafkaProducer(open);
  const found = new Map<string, FoundLetter>();

  async function find(id: string): Promise<FoundLetter | undefined> {
    if (!found.has(id)) await list();
    return found.get(id);
  }

  async function list(topic?: string): Promise<DeadLetter[]> {
    const names = topic === undefined ? Object.values(TOPICS).map(({ name }) => name) : [topic];
    const letters = await readKafkaLetters(open, topics, names);
    for (const each of letters) found.set(each.letter.id, each);
    return letters.map(({ letter }) => letter).sort((a, b) => a.time.localeCompare(b.time));
  }

  async function forget(letter: DeadLetter): Promise<void> {
    const topic = topics.nameOf(deadLetterTopic(letter.event.topic));
    await producer.send([{ topic, key: letter.id, value: null, headers: {} }]);
    found.delete(letter.id);
  }

  return {
    list,
    add: (letter) => keepKafkaLetter(letter, null, { producer, topics }),
    async remove(id) {
      const present = await find(id);
      if (present !== undefined) await forget(present.letter);
    },
    async replay(letter) {
      const present = await find(letter.id);
      if (present === undefined) throw new Error(`there is no dead letter ${letter.id}`);
      const { event, incomplete } = present.letter;
      if (incomplete === true)
        throw new Error(`the dead letter ${letter.id} was too large to be kept whole: it can only be dismissed`);
      const headers = { ...present.headers, [REPLAY_HEADER]: present.letter.group };
      await producer.send([{ topic: topics.nameOf(event.topic), key: event.key, value: present.value, headers }]);
      await forget(present.letter);
    },
    async close() {
      await producer.close();
    },
  };
}

interface FoundLetter {
  readonly letter: DeadLetter;
  /** Of the message as it first came. */
  readonly headers: Readonly<Record<string, string>>;
  readonly value: Buffer;
}

/** All letters of topics, as they stand. Topics that do not exist have none. */
export async function readKafkaLetters(
  open: OpenKafka,
  topics: KafkaTopics,
  names: readonly string[],
): Promise<FoundLetter[]> {
  const admin = (await open()).admin();
  await admin.connect();
  try {
    const present = new Set(await admin.listTopics());
    const wanted = names.map((name) => topics.nameOf(deadLetterTopic(name))).filter((name) => present.has(name));
    const letters: FoundLetter[] = [];
    const ends = await endsOf(admin, wanted);
    if (ends.size > 0) for (const message of await readToEnd(open, topics.nameOf(''), ends)) letters.push(message);
    return letters;
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

async function readToEnd(open: OpenKafka, prefix: string, ends: ReadonlyMap<string, bigint>): Promise<FoundLetter[]> {
  const letters = new Map<string, FoundLetter | null>();
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
      timer = setTimeout(() => reject(new Error('the dead letters could not be read in time')), READ_TIMEOUT_MS);
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      // What was compacted away leaves offsets that nothing comes for.
      consumer.on(consumer.events.FETCH, () => {
        quiet += 1;
        if (quiet > QUIET_FETCHES) resolve();
      });
      consumer
        .run({
          autoCommit: false,
          async eachBatch({ batch }) {
            for (const message of batch.messages) take(letters, batch.topic, message);
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
  return [...letters.values()].filter((letter) => letter !== null);
}

function topicOfPlace(place: string): string {
  return place.slice(0, place.indexOf(' '));
}

function take(letters: Map<string, FoundLetter | null>, from: string, message: KafkaMessage): void {
  const id = message.key?.toString('utf8') ?? `${from}-${message.offset}`;
  letters.set(`${from} ${id}`, message.value === null ? null : readLetter(id, message, message.value));
}

function readLetter(id: string, message: KafkaMessage, value: Buffer): FoundLetter {
  const all = textHeaders(message.headers);
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(all))
    if (text !== undefined && !name.startsWith(LETTER)) headers[name] = text;
  const of = (name: string) => all[`${LETTER}${name}`] ?? '';
  const letter: DeadLetter = {
    id,
    group: of('group'),
    reason: of('reason'),
    attempts: Number(of('attempts')),
    time: of('time'),
    ...(all[CUT] === undefined ? {} : { incomplete: true }),
    event: {
      id: headers.ce_id ?? id,
      type: headers.ce_type ?? 'unknown',
      source: headers.ce_source ?? 'unknown',
      time: headers.ce_time ?? '',
      subject: headers.ce_subject ?? '',
      ...(headers.traceparent === undefined ? {} : { traceparent: headers.traceparent }),
      topic: of('topic'),
      key: of('key'),
      data: bodyAsText(value),
    },
  };
  return { letter, headers, value };
}
