import type { Queries } from '@ecf/postgres';

/** The tables of `prisma/outbox-and-inbox.prisma`, as a migration creates them. */
export async function createEventTables(database: Queries): Promise<void> {
  await database.query(`
    CREATE TABLE outbox (position BIGSERIAL PRIMARY KEY, refused BOOLEAN NOT NULL DEFAULT false, event_id UUID NOT NULL, topic TEXT NOT NULL,
      key TEXT NOT NULL, event JSON NOT NULL, created_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP);
    CREATE INDEX ON outbox (refused, position);
    CREATE TABLE inbox (consumer_group TEXT NOT NULL, event_id UUID NOT NULL, handled_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
      PRIMARY KEY (consumer_group, event_id));
    CREATE TABLE dead_letters (consumer_group TEXT NOT NULL, event_id TEXT NOT NULL, topic TEXT NOT NULL, event JSON NOT NULL,
      reason TEXT NOT NULL, attempts INTEGER NOT NULL, failed_at TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
      replay BOOLEAN NOT NULL DEFAULT false, PRIMARY KEY (consumer_group, event_id))`);
}
