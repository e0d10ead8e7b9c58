import { MAX_EVENT_BYTES } from '@ecf/contracts';
import type { Transaction } from '@ecf/postgres';
import type { BusEvent } from '../bus.js';

const APPEND = {
  name: 'outbox_append',
  text: `INSERT INTO outbox (event_id, topic, key, event)
         SELECT * FROM ROWS FROM (unnest($1::uuid[], $2::text[], $3::text[]), json_array_elements($4::json))`,
};

/**
 * Appends events to the service's outbox in the transaction of their change, and wakes the relay after the commit. First
 * lock the row of the key: then two transactions of one key append in the order of their commits. Table: see
 * `prisma/outbox-and-inbox.prisma` of this package.
 */
export async function appendToOutbox(tx: Transaction, events: readonly BusEvent[]): Promise<void> {
  if (events.length === 0) return;
  await tx.query(APPEND, outboxColumns(events));
  tx.afterCommit(tx.database.signalOutbox);
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
 * Ids, topics and keys of events as arrays, and their bodies as one JSON array, for statements that insert events
 * together with their cause. In an array of texts pg would escape each quotation mark of the bodies.
 */
export function outboxColumns(events: readonly BusEvent[]): [string[], string[], string[], string] {
  return [
    events.map((event) => event.id),
    events.map((event) => event.topic),
    events.map((event) => event.key),
    `[${events.map(outboxBody).join(',')}]`,
  ];
}
