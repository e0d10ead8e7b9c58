import { setTimeout as delay } from 'node:timers/promises';
import { createWaker, retry, withoutTrace, withProducerSpans } from '@ecf/kit';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import { type Database, markDatabaseError, openDatabase } from '@ecf/postgres';
import pg from 'pg';
import { type Bus, type BusEvent, EventRefused } from '../bus.js';
import { outboxMetrics } from './outbox-metrics.js';

export interface OutboxRelayOptions {
  database: Database;
  bus: Bus;
  /** The service that owns the outbox: a label of the metrics. */
  service: string;
  logger: Logger;
  metrics: Metrics;
  clock: () => Date;
  /** Most events of a publication; default 500. */
  batchSize?: number;
  /** Least milliseconds between two reads of the outbox, unless a full batch says that there is more; default 100. */
  spacingMs?: number;
  /**
   * Milliseconds between reads when nothing wakes the relay, for rows that a killed process left, and between attempts to become
   * the publisher; default 5000.
   */
  pollMs?: number;
}

export interface OutboxRelay {
  /** Begins to publish. Returns immediately; connects in the background, and again after a loss. */
  start(): void;
  /** Finishes the batches in flight and releases the lock, for good. */
  stop(): Promise<void>;
}

interface Row {
  position: number;
  key: string;
  event: BusEvent;
  created_at: Date;
}

const NEXT = {
  name: 'outbox_next',
  text: 'SELECT position, key, event, created_at FROM outbox WHERE NOT refused AND key <> ALL ($1) ORDER BY position LIMIT $2',
};
const PUBLISHED = { name: 'outbox_published', text: 'DELETE FROM outbox WHERE position = ANY($1::bigint[])' };
const REFUSED = { name: 'outbox_refused', text: 'UPDATE outbox SET refused = true WHERE position = ANY($1::bigint[])' };
/** Publications in flight: a key that has to wait delays the events of its publication, and not the others. */
const MOST_IN_FLIGHT = 4;
const AFTER_ERROR_MS = 1_000;

/**
 * Publishes the rows of an outbox, at least once and in order per key, and deletes them when the bus has them. Each instance of a
 * service has a relay; the one that holds the advisory lock publishes. The events of a key are in one publication at a time, and
 * a publication that fails is repeated with growing pauses. A row that the bus refuses for its content is marked and not read
 * again.
 */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { database, service, logger } = options;
  const { batchSize = 500, spacingMs = 100, pollMs = 5_000 } = options;
  const metrics = outboxMetrics(options.metrics, service, database);
  // A deletion that a crash loses only publishes its rows again, so it does not wait for the disk.
  const settings = { synchronous_commit: 'off' };
  const queries = openDatabase(database.url, { max: 2, settings, applicationName: 'ecf outbox relay' });
  const stopping = new AbortController();
  const waker = createWaker();
  const publications = new Set<Promise<void>>();
  const keysInFlight = new Set<string>();
  let session: Session | null = null;
  let notifying: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  let stopListening = () => {};

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      const began = performance.now();
      let pause = pollMs;
      try {
        session ??= await openSession(database.url, waker.wake, lost);
        if ((await session.isPublisher()) && (await publishNext())) continue;
      } catch (error) {
        logger.warn({ err: error, service }, 'the outbox cannot be read');
        pause = Math.min(pollMs, AFTER_ERROR_MS);
      }
      await waker.woken(pause);
      await delay(began + spacingMs - performance.now(), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  function lost(error: Error): void {
    if (!stopping.signal.aborted) logger.warn({ err: error, service }, 'the outbox relay lost its session');
    session = null;
    waker.wake();
  }

  /** Reads the next rows and begins to publish them. True if there are more. */
  async function publishNext(): Promise<boolean> {
    const own = session;
    if (publications.size >= MOST_IN_FLIGHT) return false;
    const { rows } = await queries.query<Row>(NEXT, [[...keysInFlight], batchSize]);
    if (rows.length === 0 || session !== own) return false;
    for (const { key } of rows) keysInFlight.add(key);
    const publication = publish(rows, () => session === own && !stopping.signal.aborted).finally(() => {
      publications.delete(publication);
      for (const { key } of rows) keysInFlight.delete(key);
      waker.wake();
    });
    publications.add(publication);
    return rows.length === batchSize;
  }

  /** Publishes rows and deletes them, repeatedly until that is done or `mayRepeat` says no. Never rejects. */
  async function publish(rows: readonly Row[], mayRepeat: () => boolean): Promise<void> {
    const attempt = async () => {
      const refused = await publishRows(rows, options);
      const published = rows.filter((row) => !refused.includes(row));
      if (refused.length > 0) await queries.query(REFUSED, [refused.map(({ position }) => position)]);
      await queries.query(PUBLISHED, [published.map(({ position }) => position)]);
      const now = options.clock().getTime();
      for (const row of published) metrics.published(row.event.topic, (now - row.created_at.getTime()) / 1_000);
    };
    await retry(attempt, {
      signal: stopping.signal,
      onFailure(error, _failures, pauseMs) {
        metrics.failed();
        logger.warn({ err: error, service, retry_in_ms: pauseMs }, 'events could not be published');
        if (!mayRepeat()) throw error;
      },
    }).catch(() => undefined);
  }

  /** Wakes the publisher after a commit of this process: this relay, else that of another process, once for many commits. */
  function appended(): void {
    if (session?.isHeld() === true) waker.wake();
    else
      notifying ??= setTimeout(() => {
        notifying = undefined;
        queries
          .query(`NOTIFY ${CHANNEL}`)
          .catch((error) => logger.debug({ err: error, service }, 'the publisher was not woken'));
      }, spacingMs);
  }

  return {
    start() {
      stopListening = database.onOutbox(appended);
      running = withoutTrace(run);
    },
    async stop() {
      if (stopping.signal.aborted) return;
      stopping.abort();
      stopListening();
      clearTimeout(notifying);
      waker.wake();
      await running;
      await Promise.all(publications);
      await session?.close();
      await queries.close();
      metrics.close();
    },
  };
}

const CHANNEL = 'ecf_outbox';
/** Key of the advisory lock. Locks are per database. */
const LOCK = '3791, 0';

interface Session {
  /** Takes the lock if it is free. True if this session holds it. */
  isPublisher(): Promise<boolean>;
  /** True if it was taken. */
  isHeld(): boolean;
  close(): Promise<void>;
}

/** Opens the database session that takes the lock and listens for other processes. The lock ends with the session. */
async function openSession(url: string, onNotify: () => void, onLost: (error: Error) => void): Promise<Session> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    // A server that hangs must not keep the lock of a relay that cannot use it.
    query_timeout: 10_000,
    application_name: 'ecf outbox relay',
    options: '-c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5 -c tcp_keepalives_count=3',
  });
  let isOpen = true;
  let isHeld = false;
  const lost = (error: Error) => {
    if (isOpen) onLost(error);
    isOpen = false;
    client.end().catch(() => undefined);
  };
  client.on('notification', onNotify);
  client.on('error', lost);
  client.on('end', () => lost(new Error('the session of the outbox relay ended')));
  const query = (sql: string) =>
    client.query<{ ok: boolean }>(sql).catch((error) => {
      markDatabaseError(error);
      lost(error);
      throw error;
    });
  try {
    await client.connect();
  } catch (error) {
    isOpen = false;
    markDatabaseError(error);
    throw error;
  }
  await query(`LISTEN ${CHANNEL}`);
  return {
    async isPublisher() {
      isHeld ||= (await query(`SELECT pg_try_advisory_lock(${LOCK}) AS ok`)).rows[0]?.ok === true;
      return isHeld;
    },
    isHeld: () => isHeld,
    async close() {
      isOpen = false;
      await client.end().catch(() => undefined);
    },
  };
}

/** Resolves with the rows that the bus refuses for their content; all others are published then. */
async function publishRows(
  rows: readonly Row[],
  options: Pick<OutboxRelayOptions, 'bus' | 'service' | 'logger'>,
): Promise<Row[]> {
  const { bus, service, logger } = options;
  try {
    await withProducerSpans(
      rows.map((row) => row.event),
      (stamped) => bus.publish(stamped),
    );
    return [];
  } catch (error) {
    if (!(error instanceof EventRefused)) throw error;
    const [row] = rows;
    if (rows.length === 1 && row !== undefined) {
      const { id, topic, key } = row.event;
      logger.error({ err: error, service, event_id: id, topic, key, position: row.position }, 'an event is put aside');
      return [row];
    }
    const refused: Row[] = [];
    for (const each of rows) refused.push(...(await publishRows([each], options)));
    return refused;
  }
}
