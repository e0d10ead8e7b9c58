import { type Bus, type BusEvent, EventRefused } from '../bus/bus.js';
import { type Database, openDatabase } from '../postgres/database.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import { withoutTrace, withProducerSpans } from '../telemetry/tracing.js';
import { OUTBOX_PARTITIONS } from './outbox.js';
import { createOutboxCleanup } from './outbox-cleanup.js';
import { type OutboxLeases, openOutboxLeases } from './outbox-leases.js';
import { outboxMetrics } from './outbox-metrics.js';

export interface OutboxRelayOptions {
  database: Database;
  bus: Bus;
  /** The service whose outbox it is: a label of the metrics. */
  service: string;
  logger: Logger;
  metrics: Metrics;
  clock: () => Date;
  /** Events of one partition published at once; default 200. */
  batchSize?: number;
  /** Milliseconds that a wake-up, and the deletion of what was published, wait for more; default 10. */
  gatherMs?: number;
  /**
   * Milliseconds between looks while events keep coming; default 100, and more where a look finds many ({@link pauseAfter}).
   * What an event costs its consumers, a transaction most of all, is shared by those that leave together.
   */
  spacingMs?: number;
  /** Milliseconds between looks when nothing wakes the relay (rows of a process that died after its commit); default 1000. */
  pollMs?: number;
  /** Milliseconds between looks at how many relays share the work; default 5000. */
  rebalanceMs?: number;
}

export interface OutboxRelay {
  /** Begins to publish; returns at once, connects by itself and again after a loss. */
  start(): void;
  /** Looks for rows of these partitions (all, when none are named) soon. */
  wake(partitions?: Iterable<number>): void;
  /** Resolves when nothing that this relay may publish is left. */
  drained(): Promise<void>;
  /** Finishes the batches under way and gives the leases back, for good. */
  stop(): Promise<void>;
}

interface Row {
  position: number;
  partition: number;
  event: BusEvent;
  created_at: Date;
}

/** `dirty`: may have rows; `busy`: its rows are being read or published; `pause`: milliseconds it waits after failures, 0 when it does not. */
interface Partition {
  readonly number: number;
  dirty: boolean;
  busy: boolean;
  paused: boolean;
  pause: number;
}

const NEXT = {
  name: 'outbox_next',
  text: `SELECT o.position, o.partition, o.event, o.created_at FROM unnest($1::smallint[]) AS p(partition)
         CROSS JOIN LATERAL (SELECT * FROM outbox WHERE outbox.partition = p.partition ORDER BY outbox.position LIMIT $2) AS o
         ORDER BY o.position`,
};
/** A partition that no relay looks at; the same statement brings the rows back. */
const PUT_ASIDE = {
  name: 'outbox_put_aside',
  text: 'UPDATE outbox SET partition = -1 - partition WHERE position = ANY($1::bigint[])',
};
const FIRST_PAUSE = 100;
const LONGEST_PAUSE = 5_000;
const PAUSE_PER_EVENT = 10;
const LONGEST_SPACING = 400;

/**
 * Milliseconds from a look that found so many events to the next one. Beyond a hundred events a second each look finds more
 * than the one before, so the pause grows to 400 ms, and falls back as soon as they come more slowly.
 */
export function pauseAfter(found: number, spacingMs: number): number {
  return Math.max(spacingMs, Math.min(found * PAUSE_PER_EVENT, LONGEST_SPACING));
}

/**
 * Publishes what services append to their outbox, at least once and in order per key. Rows are deleted when the bus has
 * them. Several relays share an outbox by partitions ({@link OutboxLeases}); a partition whose publication fails is tried
 * again with growing pauses while the others go on. An event that the bus refuses for its content is put aside in the
 * outbox, for a person, and what stands behind it goes on.
 */
export function createOutboxRelay(options: OutboxRelayOptions): OutboxRelay {
  const { database, bus, service, logger } = options;
  const batchSize = options.batchSize ?? 200;
  const gatherMs = options.gatherMs ?? 10;
  const spacingMs = options.spacingMs ?? 100;
  const metrics = outboxMetrics(options.metrics, service, database);
  // A deletion lost in a crash only publishes a row again, so nothing waits for the disk here.
  const settings = { synchronous_commit: 'off' };
  const queries = openDatabase(database.url, { max: 2, settings, applicationName: 'ecf outbox relay' });
  const forget = createOutboxCleanup(queries);
  const partitions: readonly Partition[] = Array.from({ length: OUTBOX_PARTITIONS }, (_, number) => ({
    number,
    dirty: true,
    busy: false,
    paused: false,
    pause: 0,
  }));
  const underWay = new Set<Promise<void>>();
  const elsewhere = new Set<number>();
  const timers: NodeJS.Timeout[] = [];
  let leases: OutboxLeases | null = null;
  let state: 'new' | 'running' | 'stopped' = 'new';
  let gathering: NodeJS.Timeout | undefined;
  let scanning = Promise.resolve();
  /** When the pause after the last look that found something ends, by `performance.now()`. */
  let pauseEnds = Number.NEGATIVE_INFINITY;
  let balancing: Promise<void> | null = null;
  let stopListening = () => {};

  function wake(numbers: Iterable<number> = partitions.keys()): void {
    for (const number of numbers) {
      const partition = partitions[number];
      if (partition !== undefined) partition.dirty = true;
    }
    gather();
  }

  /** This process committed rows: what another relay holds, that one is told. */
  function appended(numbers: Iterable<number>): void {
    for (const number of numbers) if (leases?.held.has(number) === false) elsewhere.add(number);
    wake(numbers);
  }

  /** Looks soon, but a moment after the look that found something; at once where a full batch says that there is more. */
  function gather(atOnce = false): void {
    if (state !== 'running' || gathering !== undefined) return;
    const patience = atOnce ? 0 : Math.max(gatherMs, pauseEnds - performance.now());
    gathering = setTimeout(() => {
      gathering = undefined;
      scanning = scanning.then(() => withoutTrace(scan));
    }, patience);
  }

  async function scan(): Promise<void> {
    if (elsewhere.size > 0) {
      const told = [...elsewhere];
      elsewhere.clear();
      leases?.notify(told).catch((error) => logger.warn({ err: error, service }, 'other relays could not be told'));
    }
    const session = leases;
    const open = partitions.filter((p) => p.dirty && !p.busy && !p.paused && session?.held.has(p.number) === true);
    if (open.length === 0 || state !== 'running') return;
    for (const partition of open) Object.assign(partition, { dirty: false, busy: true });
    try {
      const { rows } = await queries.query<Row>(NEXT, [open.map((partition) => partition.number), batchSize]);
      if (rows.length > 0) pauseEnds = performance.now() + pauseAfter(rows.length, spacingMs);
      for (const partition of open) {
        const batch = rows.filter((row) => row.partition === partition.number);
        // Another relay may have begun with them where the session was lost meanwhile.
        const isOurs = session === leases;
        if (batch.length === batchSize || !isOurs) partition.dirty = true;
        if (batch.length > 0 && isOurs) begin(partition, batch);
        else partition.busy = false;
      }
    } catch (error) {
      for (const partition of open) {
        partition.busy = false;
        fail(partition, error, 'the outbox cannot be read');
      }
    }
  }

  function begin(partition: Partition, batch: readonly Row[]): void {
    const work = publish(partition, batch).finally(() => {
      partition.busy = false;
      underWay.delete(work);
      if (partition.dirty) gather(batch.length === batchSize);
    });
    underWay.add(work);
  }

  async function publish(partition: Partition, batch: readonly Row[]): Promise<void> {
    try {
      const refused = await send(batch);
      if (refused.length > 0) await putAside(refused);
      const published = refused.length === 0 ? batch : batch.filter((row) => !refused.includes(row));
      await forget(
        published.map((row) => row.position),
        batch.length === batchSize ? 0 : gatherMs,
      );
      const now = options.clock().getTime();
      for (const row of published) metrics.published(row.event.topic, (now - row.created_at.getTime()) / 1_000);
      partition.pause = 0;
    } catch (error) {
      metrics.failed();
      fail(partition, error, 'events could not be published');
    }
  }

  /** Resolves with what the bus refuses for its content; all else of the batch is published then. */
  async function send(batch: readonly Row[]): Promise<Row[]> {
    try {
      const events = batch.map((row) => row.event);
      await withProducerSpans(events, (stamped) => bus.publish(stamped));
      return [];
    } catch (error) {
      if (!(error instanceof EventRefused)) throw error;
      const [row] = batch;
      if (batch.length > 1 || row === undefined) return sendEach(batch);
      const { id, topic, key } = row.event;
      logger.error({ err: error, service, event_id: id, topic, key, position: row.position }, 'an event is put aside');
      return [row];
    }
  }

  async function sendEach(batch: readonly Row[]): Promise<Row[]> {
    const refused: Row[] = [];
    for (const row of batch) refused.push(...(await send([row])));
    return refused;
  }

  async function putAside(rows: readonly Row[]): Promise<void> {
    await queries.query(PUT_ASIDE, [rows.map((row) => row.position)]);
  }

  function fail(partition: Partition, error: unknown, words: string): void {
    partition.pause = Math.min(Math.max(FIRST_PAUSE, partition.pause * 2), LONGEST_PAUSE);
    partition.paused = true;
    partition.dirty = true;
    logger.warn({ err: error, service, partition: partition.number, retry_in_ms: partition.pause }, words);
    const retry = setTimeout(() => {
      partition.paused = false;
      gather();
    }, partition.pause);
    retry.unref();
  }

  function balance(): Promise<void> {
    balancing ??= rebalance().finally(() => {
      balancing = null;
    });
    return balancing;
  }

  async function rebalance(): Promise<void> {
    try {
      leases ??= await openOutboxLeases({
        url: database.url,
        onNotify: wake,
        onLost: (error) => {
          leases = null;
          logger.warn({ err: error, service }, 'the outbox relay lost its session');
        },
      });
      await leases.rebalance((number) => partitions[number]?.busy === true);
      wake();
    } catch (error) {
      logger.warn({ err: error, service }, 'the outbox relay cannot reach its database');
      await leases?.close();
      leases = null;
    }
  }

  async function isEmpty(): Promise<boolean> {
    if (leases === null) return false;
    const mine = [...leases.held];
    const left = await queries.query('SELECT 1 FROM outbox WHERE partition = ANY($1::smallint[]) LIMIT 1', [mine]);
    return left.rowCount === 0;
  }

  return {
    start() {
      if (state !== 'new') return;
      state = 'running';
      stopListening = database.onOutbox(appended);
      timers.push(setInterval(() => (leases === null ? void balance() : wake()), options.pollMs ?? 1_000));
      timers.push(setInterval(() => void balance(), options.rebalanceMs ?? 5_000));
      void balance();
    },
    wake,
    async drained() {
      while (state === 'running' && !(await isEmpty())) {
        await balance();
        await scanning;
        await Promise.all(underWay);
      }
    },
    async stop() {
      if (state === 'stopped') return;
      state = 'stopped';
      stopListening();
      for (const timer of timers) clearInterval(timer);
      clearTimeout(gathering);
      await balancing;
      await scanning;
      await Promise.all(underWay);
      await leases?.close();
      await queries.close();
      metrics.close();
    },
  };
}
