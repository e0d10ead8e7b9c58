import type { ICustomPartitioner, Message, Producer } from 'kafkajs';
import { loadKafka, type OpenKafka } from './kafka-client.js';
import { type KafkaRecord, recordBytes, toMessage } from './kafka-messages.js';

/** Sends records; those that come while a request is under way share the next one. */
export interface KafkaProducer {
  /** Resolves when all in-sync replicas have all of them; rejects when some may be missing. Order is kept per key. */
  send(records: readonly KafkaRecord[]): Promise<void>;
  close(): Promise<void>;
}

interface Waiting {
  readonly records: readonly KafkaRecord[];
  readonly bytes: number;
  resolve(): void;
  reject(error: unknown): void;
}

/** Brokers take record batches of 1 MiB by default, and everything for a partition travels as one. */
const MAX_REQUEST_BYTES = 950_000;
const ACK_TIMEOUT_MS = 10_000;

/**
 * An idempotent producer with acks=all, connected at the first use.
 *
 * One request at a time, and a new producer after each failure: kafkajs takes sequence numbers back when a request fails,
 * and a broker that had stored that request would take the next ones with these numbers for repeats and drop them. For the
 * same reason a request counts only when each partition it went to has answered.
 */
export function createKafkaProducer(open: OpenKafka): KafkaProducer {
  const waiting: Waiting[] = [];
  let working: Promise<void> | null = null;
  let producer: Producer | null = null;
  let closed = false;
  const used = new Set<string>();

  function noting(createPartitioner: ICustomPartitioner): ICustomPartitioner {
    return () => {
      const choose = createPartitioner();
      return (args) => {
        const partition = choose(args);
        used.add(`${args.topic} ${partition}`);
        return partition;
      };
    };
  }

  async function connected(): Promise<Producer> {
    if (producer !== null) return producer;
    const { Partitioners } = await loadKafka();
    const client = await open();
    const fresh = client.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: noting(Partitioners.DefaultPartitioner),
      retry: { retries: 3 },
    });
    await fresh.connect().catch(async (error) => {
      await fresh.disconnect().catch(() => undefined);
      throw error;
    });
    producer = fresh;
    return fresh;
  }

  async function discard(): Promise<void> {
    const former = producer;
    producer = null;
    await former?.disconnect().catch(() => undefined);
  }

  async function request(records: readonly KafkaRecord[]): Promise<void> {
    const topics = new Map<string, Message[]>();
    for (const record of records) {
      const messages = topics.get(record.topic);
      if (messages === undefined) topics.set(record.topic, [toMessage(record)]);
      else messages.push(toMessage(record));
    }
    const topicMessages = [...topics].map(([topic, messages]) => ({ topic, messages }));
    try {
      const sender = await connected();
      used.clear();
      const answers = await sender.sendBatch({ acks: -1, timeout: ACK_TIMEOUT_MS, topicMessages });
      for (const { topicName, partition } of answers) used.delete(`${topicName} ${partition}`);
      if (used.size > 0) throw new Error(`no answer for ${[...used].join(', ')}`);
    } catch (error) {
      await discard();
      throw error;
    }
  }

  /** One after the other, so that a part that fails leaves nothing of the same key behind it. */
  async function transmit(records: readonly KafkaRecord[]): Promise<void> {
    for (const part of parts(records)) await request(part);
  }

  function take(): Waiting[] {
    let bytes = 0;
    let count = 0;
    for (const entry of waiting) {
      if (count > 0 && bytes + entry.bytes > MAX_REQUEST_BYTES) break;
      bytes += entry.bytes;
      count += 1;
    }
    return waiting.splice(0, count);
  }

  async function work(): Promise<void> {
    while (waiting.length > 0) {
      const group = take();
      try {
        await transmit(group.flatMap(({ records }) => records));
        for (const entry of group) entry.resolve();
      } catch (error) {
        if (group.length > 1 && isAboutTheContent(error)) await apart(group);
        else for (const entry of group) entry.reject(error);
      }
    }
    working = null;
  }

  /** What a broker refuses for its content must not hold back what came with it. */
  async function apart(group: readonly Waiting[]): Promise<void> {
    for (const entry of group) await transmit(entry.records).then(entry.resolve, entry.reject);
  }

  return {
    send(records) {
      if (records.length === 0) return Promise.resolve();
      if (closed) return Promise.reject(new Error('the producer is closed'));
      const bytes = records.reduce((sum, record) => sum + recordBytes(record), 0);
      return new Promise<void>((resolve, reject) => {
        waiting.push({ records, bytes, resolve, reject });
        working ??= Promise.resolve().then(work);
      });
    },
    async close() {
      closed = true;
      await working;
      await discard();
    },
  };
}

function parts(records: readonly KafkaRecord[]): KafkaRecord[][] {
  const result: KafkaRecord[][] = [];
  let bytes = Number.POSITIVE_INFINITY;
  for (const record of records) {
    const size = recordBytes(record);
    if (bytes + size > MAX_REQUEST_BYTES) {
      result.push([]);
      bytes = 0;
    }
    result.at(-1)?.push(record);
    bytes += size;
  }
  return result;
}

const CONTENT_ERRORS = new Set(['MESSAGE_TOO_LARGE', 'RECORD_LIST_TOO_LARGE', 'CORRUPT_MESSAGE', 'INVALID_RECORD']);

/** Whether brokers refused what was sent for what it is, and would again. */
export function isAboutTheContent(error: unknown): boolean {
  for (let each = error as { type?: string; cause?: unknown } | undefined; each; each = each.cause as never)
    if (each.type !== undefined && CONTENT_ERRORS.has(each.type)) return true;
  return false;
}
