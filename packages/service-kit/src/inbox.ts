import type { Queries } from './database.js';

/**
 * Notes an event as handled by a group, in the transaction of its effect. False where it was handled before: do nothing.
 * Table: `inbox (consumer_group text, event_id uuid, handled_at timestamptz default now(), primary key (consumer_group, event_id))`.
 */
export async function once(tx: Queries, group: string, eventId: string): Promise<boolean> {
  const noted = await tx.query(NOTE, [group, eventId]);
  return noted.rowCount === 1;
}

const NOTE = {
  name: 'inbox_note',
  text: 'INSERT INTO inbox (consumer_group, event_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
};

/** Forgets ids noted before `before`; the bus redelivers within hours, so a week is plenty. Returns how many. */
export async function cleanInbox(database: Queries, before: Date): Promise<number> {
  const removed = await database.query('DELETE FROM inbox WHERE handled_at < $1', [before]);
  return removed.rowCount;
}
