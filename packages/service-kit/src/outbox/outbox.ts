import { MAX_EVENT_BYTES } from '@ecf/contracts';
import type { BusEvent } from '../bus/bus.js';
import type { Queries, Transaction } from '../postgres/database.js';

/** Partitions of the outbox: events of one key share one, and one relay at a time publishes a partition. */
export const OUTBOX_PARTITIONS = 8;

/** FNV-1a over UTF-16 units, folded to a partition number. */
export function outboxPartition(key: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < key.length; i += 1) hash = Math.imul(hash ^ key.charCodeAt(i), 0x01000193);
  return (hash >>> 0) % OUTBOX_PARTITIONS;
}

const APPEND = {
  name: 'outbox_append',
  text: `INSERT INTO outbox (partition, event_id, topic, key, event)
         SELECT * FROM ROWS FROM (unnest($1::smallint[], $2::uuid[], $3::text[], $4::text[]), json_array_elements($5::json))`,
};

/**
 * Appends events to the service's outbox in the transaction of their change, and wakes the relay after the commit. First
 * lock the row of the key: then two transactions of one key append in the order of their commits. Table: see
 * `prisma/outbox-and-inbox.prisma` of this package.
 */
export async function appendToOutbox(tx: Transaction, events: readonly BusEvent[]): Promise<void> {
  if (events.length === 0) return;
  const partitions = await insertIntoOutbox(tx, events);
  tx.afterCommit(() => tx.database.signalOutbox(partitions));
}

/**
 * An event as the outbox stores it. The creator of an event limits its content to MAX_EVENT_BYTES. Throws RangeError for a
 * larger one, because no broker would accept it.
 */
function outboxBody(event: BusEvent): string {
  const body = JSON.stringify(event);
  if (Buffer.byteLength(body) > MAX_EVENT_BYTES)
    throw new RangeError(`an event of ${event.topic} is larger than ${MAX_EVENT_BYTES} bytes`);
  return body;
}

/**
 * Partitions, ids, topics and keys of events as arrays, and their bodies as one JSON array, for statements that insert events
 * together with their cause. In an array of texts pg would escape each quotation mark of the bodies.
 */
export function outboxColumns(events: readonly BusEvent[]): [number[], string[], string[], string[], string] {
  return [
    events.map((event) => outboxPartition(event.key)),
    events.map((event) => event.id),
    events.map((event) => event.topic),
    events.map((event) => event.key),
    `[${events.map(outboxBody).join(',')}]`,
  ];
}

/** The insert alone, for transactions of another client; the caller signals the outbox after its commit. */
export async function insertIntoOutbox(tx: Queries, events: readonly BusEvent[]): Promise<Set<number>> {
  const columns = outboxColumns(events);
  await tx.query(APPEND, columns);
  return new Set(columns[0]);
}
