import { setTimeout as delay } from 'node:timers/promises';
import { type Bus, type BusEvent, EventRefused } from '../bus/bus.js';
import { type Database, openDatabase, type Queries } from '../postgres/database.js';
import { createSharedCalls } from '../postgres/shared-calls.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import { withoutTrace, withProducerSpans } from '../telemetry/tracing.js';
import { type OutboxLeases, openOutboxLeases } from './outbox-leases.js';
import { outboxMetrics } from './outbox-metrics.js';

export interface OutboxRelayOptions {
  database: Database;
  bus: Bus;
  /** The service that owns the outbox: a label of the metrics. */
  service: string;
  logger: Logger;
  metrics: Metrics;
  clock: () => Date;
  /** Events of one partition published at once; default 200. */
  batchSize?: number;
  /** Least milliseconds between two reads of the outbox, unless a full batch says that there is more; default 100. */
  spacingMs?: number;
  /** Milliseconds between reads when nothing wakes the relay (rows that a process left when it died); default 1000. */
  pollMs?: number;
  /** Milliseconds after which the relays share the partitions again; default 5000. */
  rebalanceMs?: number;
}

export interface OutboxRelay {
  /** Begins to publish. Returns at once; connects in the background, and again after a loss. */
  start(): void;
  /** Reads the outbox soon. */
  wake(): void;
  /** Resolves when nothing that this relay may publish is left. */
  drained(): Promise<void>;
  /** Finishes the batches in flight and gives the leases back, for good. */
  stop(): Promise<void>;
}

interface Row {
  position: number;
  partition: number;
  event: BusEvent;
  created_at: Date;
}

const NEXT = {
  name: 'outbox_next',
  text: `SELECT o.position, o.partition, o.event, o.created_at FROM unnest($1::smallint[]) AS p(partition)
         CROSS JOIN LATERAL (SELECT * FROM outbox WHERE outbox.partition = p.partition ORDER BY outbox.position LIMIT $2) AS o
         ORDER BY o.position`,
};
const PUBLISHED = { name: 'outbox_published', text: 'DELETE FROM outbox WHERE position = ANY($1::bigint[])' };
/** No relay reads a negative partition; the same statement brings the rows back. */
const PUT_ASIDE = {
  name: 'outbox_put_aside',
  text: 'UPDATE outbox SET partition = -1 - partition WHERE position = ANY($1::bigint[])',
};
const FIRST_RETRY_MS = 100;
const MAX_RETRY_MS = 5_000;

/**
 * Publishes the rows of an outbox, at least once and in order per key. Rows are deleted when the bus has them. Several
 * relays share an outbox by partitions ({@link OutboxLeases}). A partition whose publication fails is tried again with
 * growing pauses while the others continue. A row that the bus refuses for its content is put aside, and the rows behind it
 * go on.
 */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { database, service } = options;
  const { batchSize = 200, spacingMs = 100, pollMs = 1_000, rebalanceMs = 5_000 } = options;
  const metrics = outboxMetrics(options.metrics, service, database);
  // A deletion that a crash loses only publishes its rows again, so it does not wait for the disk.
  const settings = { synchronous_commit: 'off' };
  const queries = openDatabase(database.url, { max: 2, settings, applicationName: 'ecf outbox relay' });
  const stopping = new AbortController();
  const waker = createWaker();
  const session = createSession(options, waker.wake);
  const publisher = createPublisher(queries, options, metrics, waker.wake);
  let running: Promise<void> = Promise.resolve();
  let started = false;
  let stopListening = () => {};

  async function run(): Promise<void> {
    let balancedAt = Number.NEGATIVE_INFINITY;
    while (!stopping.signal.aborted) {
      const began = performance.now();
      if (session.leases() === null || began - balancedAt > rebalanceMs) {
        await session.balance(publisher.isBusy);
        balancedAt = began;
      }
      if (await publishNext()) continue;
      await waker.woken(pollMs);
      await delay(began + spacingMs - performance.now(), undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  /** Reads the next rows of the free partitions and begins to publish them. True if a full batch says that there is more. */
  async function publishNext(): Promise<boolean> {
    const leases = session.leases();
    const free = [...(leases?.held ?? [])].filter(publisher.isFree);
    if (free.length === 0) return false;
    const batches = new Map<number, Row[]>();
    try {
      const { rows } = await queries.query<Row>(NEXT, [free, batchSize]);
      for (const row of rows) batches.set(row.partition, [...(batches.get(row.partition) ?? []), row]);
    } catch (error) {
      for (const partition of free) publisher.retryLater(partition, error, 'the outbox cannot be read');
    }
    // Another relay may own the partitions where the session was lost meanwhile.
    if (leases !== session.leases()) return true;
    for (const [partition, rows] of batches) publisher.begin(partition, rows);
    return [...batches.values()].some((rows) => rows.length === batchSize);
  }

  return {
    start() {
      if (started || stopping.signal.aborted) return;
      started = true;
      stopListening = database.onOutbox((partitions) => {
        session.notifyOthers(partitions);
        waker.wake();
      });
      running = withoutTrace(run);
    },
    wake: waker.wake,
    async drained() {
      while (!stopping.signal.aborted && !(await isEmpty(queries, session.leases()))) {
        waker.wake();
        await delay(10);
      }
    },
    async stop() {
      if (stopping.signal.aborted) return;
      stopping.abort();
      stopListening();
      waker.wake();
      await running;
      await publisher.idle();
      await session.close();
      await queries.close();
      metrics.close();
    },
  };
}

/** The database session that holds the leases; opened by `balance`, and again after a loss. */
function createSession({ database, service, logger, spacingMs = 100 }: OutboxRelayOptions, wake: () => void) {
  let leases: OutboxLeases | null = null;
  let notifying: NodeJS.Timeout | null = null;

  return {
    leases: () => leases,
    async balance(isBusy: (partition: number) => boolean): Promise<void> {
      try {
        leases ??= await openOutboxLeases({
          url: database.url,
          onNotify: wake,
          onLost: (error) => {
            leases = null;
            logger.warn({ err: error, service }, 'the outbox relay lost its session');
          },
        });
        await leases.rebalance(isBusy);
      } catch (error) {
        logger.warn({ err: error, service }, 'the outbox relay cannot reach its database');
        await leases?.close();
        leases = null;
      }
    },
    /** Notifies the other relays, once for many commits, where one of them holds a partition. */
    notifyOthers(partitions: Iterable<number>): void {
      const held = leases?.held;
      if (notifying !== null || held === undefined || [...partitions].every((one) => held.has(one))) return;
      notifying = setTimeout(() => {
        notifying = null;
        leases?.notify().catch((error) => logger.warn({ err: error, service }, 'other relays were not notified'));
      }, spacingMs);
    },
    async close(): Promise<void> {
      clearTimeout(notifying ?? undefined);
      await leases?.close();
      leases = null;
    },
  };
}

/** Publishes batches of partitions side by side; a partition that failed rests with growing pauses. */
function createPublisher(
  queries: Queries,
  options: OutboxRelayOptions,
  metrics: ReturnType<typeof outboxMetrics>,
  wake: () => void,
) {
  const busy = new Map<number, Promise<void>>();
  /** Pause after the last failure of a partition, and its end by `performance.now()`. */
  const retries = new Map<number, { pause: number; until: number }>();

  function retryLater(partition: number, error: unknown, message: string): void {
    const pause = Math.min(2 * (retries.get(partition)?.pause ?? FIRST_RETRY_MS / 2), MAX_RETRY_MS);
    retries.set(partition, { pause, until: performance.now() + pause });
    options.logger.warn({ err: error, service: options.service, partition, retry_in_ms: pause }, message);
    setTimeout(wake, pause).unref();
  }

  // Publications of several partitions mostly end together.
  const deletions = createSharedCalls<readonly Row[], void>({
    maxItems: 64,
    maxInFlight: 1,
    keyOf: (rows) => rows,
    async work(publications) {
      await queries.query(PUBLISHED, [publications.flat().map((row) => row.position)]);
      return publications.map(() => undefined);
    },
  });

  async function publish(partition: number, rows: readonly Row[]): Promise<void> {
    try {
      const refused = await publishRows(rows, options);
      if (refused.length > 0) await queries.query(PUT_ASIDE, [refused.map((row) => row.position)]);
      const published = rows.filter((row) => !refused.includes(row));
      await deletions.run(published);
      const now = options.clock().getTime();
      for (const row of published) metrics.published(row.event.topic, (now - row.created_at.getTime()) / 1_000);
      retries.delete(partition);
    } catch (error) {
      metrics.failed();
      retryLater(partition, error, 'events could not be published');
    }
  }

  const isBusy = (partition: number) => busy.has(partition);
  return {
    isBusy,
    isFree: (partition: number) => !isBusy(partition) && (retries.get(partition)?.until ?? 0) <= performance.now(),
    retryLater,
    begin(partition: number, rows: readonly Row[]): void {
      const done = publish(partition, rows).finally(() => {
        busy.delete(partition);
        wake();
      });
      busy.set(partition, done);
    },
    async idle() {
      await Promise.all(busy.values());
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

async function isEmpty(queries: Queries, leases: OutboxLeases | null): Promise<boolean> {
  if (leases === null) return false;
  const left = await queries.query('SELECT 1 FROM outbox WHERE partition = ANY($1::smallint[]) LIMIT 1', [
    [...leases.held],
  ]);
  return left.rowCount === 0;
}

/** Ends a wait early; a wake-up without a wait ends the next wait at once. */
function createWaker() {
  let isWoken = false;
  let end = () => {};
  return {
    wake() {
      isWoken = true;
      end();
    },
    async woken(timeoutMs: number): Promise<void> {
      if (!isWoken)
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          end = () => {
            clearTimeout(timer);
            resolve();
          };
        });
      isWoken = false;
    },
  };
}
