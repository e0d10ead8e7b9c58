import type { Message, Producer } from 'kafkajs';
import { loadKafka, type OpenKafka } from './kafka-client.js';
import { type KafkaRecord, recordBytes, toMessage } from './kafka-messages.js';
import { type CheckedSending, checkedSending } from './kafkajs-workarounds.js';

/** Sends records, one request at a time. */
export interface KafkaProducer {
  /** Resolves when all in-sync replicas have all of them; rejects when some may be missing. Order is kept per key. */
  send(records: readonly KafkaRecord[]): Promise<void>;
  close(): Promise<void>;
}

/** Brokers take record batches of 1 MiB by default, and everything for a partition travels as one. */
const MAX_REQUEST_BYTES = 950_000;
const ACK_TIMEOUT_MS = 10_000;

/** An idempotent producer with acks=all, connected at the first use and replaced after each failure. */
export function createKafkaProducer(open: OpenKafka): KafkaProducer {
  let present: { producer: Producer; sending: CheckedSending } | null = null;
  let queue: Promise<void> = Promise.resolve();
  let closed = false;

  async function connect() {
    const { Partitioners } = await loadKafka();
    const client = await open();
    const sending = checkedSending(Partitioners.DefaultPartitioner);
    const producer = client.producer({
      idempotent: true,
      maxInFlightRequests: 1,
      allowAutoTopicCreation: false,
      createPartitioner: sending.createPartitioner,
      retry: { retries: 3 },
    });
    present = { producer, sending };
    await producer.connect();
    return present;
  }

  async function discard(): Promise<void> {
    const former = present;
    present = null;
    await former?.producer.disconnect().catch(() => undefined);
  }

  async function request(records: readonly KafkaRecord[]): Promise<void> {
    try {
      const { producer, sending } = present ?? (await connect());
      await sending.send(producer, byTopic(records), ACK_TIMEOUT_MS);
    } catch (error) {
      await discard();
      throw error;
    }
  }

  return {
    send(records) {
      if (closed) return Promise.reject(new Error('the producer is closed'));
      const sent = queue.then(async () => {
        for (const part of parts(records)) await request(part);
      });
      queue = sent.catch(() => undefined);
      return sent;
    },
    async close() {
      closed = true;
      await queue;
      await discard();
    },
  };
}

function byTopic(records: readonly KafkaRecord[]) {
  const topics = new Map<string, Message[]>();
  for (const record of records) {
    const messages = topics.get(record.topic);
    if (messages === undefined) topics.set(record.topic, [toMessage(record)]);
    else messages.push(toMessage(record));
  }
  return [...topics].map(([topic, messages]) => ({ topic, messages }));
}

/** Requests that brokers accept by their size. They are sent in order, so a failure leaves no later record of its key. */
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

/** Whether brokers refused the records for their content or size, and would again. */
export function isContentRefused(error: unknown): boolean {
  for (let each = error as { type?: string; cause?: unknown } | undefined; each; each = each.cause as never)
    if (each.type !== undefined && CONTENT_ERRORS.has(each.type)) return true;
  return false;
}
