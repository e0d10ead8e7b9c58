import pg from 'pg';
import { markDatabaseError } from '../postgres/database-errors.js';
import { OUTBOX_PARTITIONS } from './outbox.js';

/** First half of the advisory lock keys; the second is the partition, or MEMBERS. Locks are per database. */
const LOCK_CLASS = 0x0ecf;
const MEMBERS = 1_000;
const CHANNEL = 'ecf_outbox';

/**
 * The partitions that one relay may publish. A lease is an advisory lock of a session, so it ends with the process, however
 * that ends. Every relay also holds one shared lock, by which each counts the others and takes its share.
 */
export interface OutboxLeases {
  readonly held: ReadonlySet<number>;
  /** Takes free partitions up to an equal share, and gives back what exceeds it and is not busy. */
  rebalance(isBusy: (partition: number) => boolean): Promise<void>;
  /** Notifies the relays of other processes of new rows. */
  notify(): Promise<void>;
  close(): Promise<void>;
}

export interface OutboxLeasesOptions {
  url: string;
  /** Another process appended rows. */
  onNotify: () => void;
  /** The session ended, and with it every lease. */
  onLost: (error: Error) => void;
}

/** Opens the session that holds the leases and listens for other processes. */
export async function openOutboxLeases(options: OutboxLeasesOptions): Promise<OutboxLeases> {
  const client = new pg.Client({
    connectionString: options.url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A server that hangs must not keep the leases of a relay that cannot use them.
    query_timeout: 10_000,
    application_name: 'ecf outbox relay',
    options:
      '-c synchronous_commit=off -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
  });
  const held = new Set<number>();
  let closing = false;
  const lost = (error: Error) => {
    held.clear();
    if (!closing) options.onLost(error);
    closing = true;
  };
  client.on('error', lost);
  client.on('end', () => lost(new Error('the session of the outbox relay ended')));
  client.on('notification', options.onNotify);
  try {
    await client.connect();
    await client.query(`LISTEN ${CHANNEL}`);
    await client.query('SELECT pg_advisory_lock_shared($1, $2)', [LOCK_CLASS, MEMBERS]);
  } catch (error) {
    closing = true;
    markDatabaseError(error);
    await client.end().catch(() => undefined);
    throw error;
  }

  async function members(): Promise<number> {
    const found = await client.query<{ count: string }>(
      `SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND objsubid = 2 AND classid = $1 AND objid = $2
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      [LOCK_CLASS, MEMBERS],
    );
    return Math.max(1, Number(found.rows[0]?.count));
  }

  return {
    held,
    async rebalance(isBusy) {
      const share = Math.ceil(OUTBOX_PARTITIONS / (await members()));
      for (const partition of [...held].reverse()) {
        if (held.size <= share) break;
        if (isBusy(partition)) continue;
        held.delete(partition);
        await client.query('SELECT pg_advisory_unlock($1, $2)', [LOCK_CLASS, partition]);
      }
      for (let partition = 0; partition < OUTBOX_PARTITIONS && held.size < share; partition += 1) {
        if (held.has(partition)) continue;
        const taken = await client.query<{ ok: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS ok', [
          LOCK_CLASS,
          partition,
        ]);
        if (taken.rows[0]?.ok === true) held.add(partition);
      }
    },
    async notify() {
      await client.query(`NOTIFY ${CHANNEL}`);
    },
    async close() {
      closing = true;
      held.clear();
      await client.end().catch(() => undefined);
    },
  };
}
