import { deleteExpired, type Queries } from '@ecf/postgres';

/**
 * Notes an event as handled by a group, in the transaction of its effect. False if it was handled before: do nothing.
 * Table: `inbox (consumer_group text, event_id uuid, handled_at timestamptz default now(), primary key (consumer_group,
 * event_id))`.
 */
export async function once(tx: Queries, group: string, eventId: string): Promise<boolean> {
  return (await onceEach(tx, group, [eventId])).has(eventId);
}

/** The same for events whose effects share a transaction; resolves with the ids that were not handled before. */
export async function onceEach(tx: Queries, group: string, eventIds: readonly string[]): Promise<Set<string>> {
  const { rows } = await tx.query<{ event_id: string }>(NOTE, [group, [...eventIds].sort()]);
  return new Set(rows.map((row) => row.event_id));
}

const NOTE = {
  name: 'inbox_note',
  text: `INSERT INTO inbox (consumer_group, event_id) SELECT $1, unnest($2::uuid[])
    ON CONFLICT (consumer_group, event_id) DO NOTHING
    RETURNING event_id::text`,
};

/** The bus redelivers within hours. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** Forgets ids that were noted more than a week ago, at most those of one day in a run. Returns how many. */
export function cleanInbox(database: Queries, now: Date): Promise<number> {
  return deleteExpired(database, { table: 'inbox', column: 'handled_at', keptMs: KEPT_MS }, now);
}
