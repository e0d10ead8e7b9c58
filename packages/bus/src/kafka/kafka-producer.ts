import type { OpenKafka } from './kafka-client.js';
import { type KafkaRecord, recordBytes } from './kafka-messages.js';
import { hasCause, replacedAfterSilence, SEND_ONCE } from './kafkajs-workarounds.js';

/** Sends records. */
export interface KafkaProducer {
  /** Resolves when all in-sync replicas have all of them; rejects when some may be missing. Order is kept per key. */
  send(records: readonly KafkaRecord[]): Promise<void>;
  close(): Promise<void>;
}

/** Brokers take record batches of 1 MiB by default, and everything for a partition travels as one. */
const MAX_REQUEST_BYTES = 950_000;
const ACK_TIMEOUT_MS = 10_000;

/** A producer with acks=all, connected at the first use. A broker gets one request at a time. */
export function createKafkaProducer(open: OpenKafka): KafkaProducer {
  const connection = replacedAfterSilence(async () => {
    const producer = (await open()).producer({ maxInFlightRequests: 1, allowAutoTopicCreation: false, ...SEND_ONCE });
    try {
      await producer.connect();
    } catch (error) {
      await producer.disconnect().catch(() => undefined);
      throw error;
    }
    return producer;
  });

  return {
    send: (records) =>
      connection.use(async (producer) => {
        for (const part of parts(records)) {
          const topicMessages = part.map((record) => ({ topic: record.topic, messages: [record] }));
          await producer.sendBatch({ acks: -1, timeout: ACK_TIMEOUT_MS, topicMessages });
        }
      }),
    close: connection.close,
  };
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
  return hasCause(error, ({ type = '' }) => CONTENT_ERRORS.has(type));
}

/** Whether the brokers lack a topic of the records, because they lost their log. */
export function isTopicMissing(error: unknown): boolean {
  return hasCause(error, ({ type }) => type === 'UNKNOWN_TOPIC_OR_PARTITION');
}
