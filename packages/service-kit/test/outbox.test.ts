import { memoryDeadLetters, silentLogger } from '@ecf/test-support/services';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestPostgres } from '../../test-servers/src/postgres.js';
import { createInProcessBus } from '../src/bus/bus.in-process.js';
import type { Bus, BusEvent } from '../src/bus/bus.js';
import { withDeadLetters } from '../src/bus/dead-letters.js';
import { cleanInbox, once } from '../src/outbox/inbox.js';
import { appendToOutbox, OUTBOX_PARTITIONS } from '../src/outbox/outbox.js';
import { createOutboxRelay, type OutboxRelay, type OutboxRelayOptions } from '../src/outbox/outbox-relay.js';
import { type Database, openDatabase } from '../src/postgres/database.js';
import { createMetrics } from '../src/telemetry/metrics.js';
import { until } from './bus-contract.js';
import { createEventTables } from './event-tables.js';
import { revisionOf, rncs, taxpayerEvent } from './sample-events.js';

let url: string;
let database: Database;
const relays: OutboxRelay[] = [];

beforeAll(async () => {
  url = await (await startTestPostgres()).createDatabase();
  database = openDatabase(url);
  await createEventTables(database);
});
beforeEach(() => database.query('TRUNCATE outbox, inbox'));
afterEach(async () => {
  await Promise.all(relays.splice(0).map((relay) => relay.stop()));
});
afterAll(() => database.close());

function collectingBus(seen: BusEvent[], publish: (batch: readonly BusEvent[]) => Promise<void> = async () => {}): Bus {
  return {
    async publish(batch) {
      await publish(batch);
      seen.push(...batch);
    },
    subscribe: () => Promise.reject(new Error('not in this test')),
    close: async () => {},
  };
}

function startRelay(bus: Bus, options: Partial<OutboxRelayOptions> = {}): OutboxRelay {
  const metrics = createMetrics();
  const relay = createOutboxRelay({
    database,
    bus,
    service: 'test',
    logger: silentLogger,
    metrics,
    clock: () => new Date(),
    pollMs: 50,
    rebalanceMs: 50,
    spacingMs: 10,
    ...options,
  });
  relays.push(relay);
  relay.start();
  return relay;
}

function append(...events: BusEvent[]): Promise<void> {
  return database.transaction((tx) => appendToOutbox(tx, events));
}

async function waiting(): Promise<number> {
  return (await database.query<{ n: number }>('SELECT count(*) AS n FROM outbox')).rows[0]?.n ?? -1;
}

function perKey(events: readonly BusEvent[]): Map<string, number[]> {
  const keys = new Map<string, number[]>();
  for (const event of events) keys.set(event.key, [...(keys.get(event.key) ?? []), revisionOf(event)]);
  return keys;
}

describe('the outbox', () => {
  it('publishes committed events once, and nothing that was rolled back', async () => {
    const seen: BusEvent[] = [];
    const relay = startRelay(collectingBus(seen), { pollMs: 60_000 });
    const kept = taxpayerEvent('131000001');
    await append(kept);
    const undone = database.transaction(async (tx) => {
      await appendToOutbox(tx, [taxpayerEvent('131000002')]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await until(async () => (await waiting()) === 0);
    expect(seen).toEqual([kept]);
    await relay.drained();
  });

  it('publishes the rows of a dead process', async () => {
    const left = rncs(500).map((rnc) => taxpayerEvent(rnc));
    await append(...left);
    const seen: BusEvent[] = [];
    startRelay(collectingBus(seen), { batchSize: 7 });
    await until(async () => (await waiting()) === 0);
    expect(new Set(seen.map((event) => event.id))).toEqual(new Set(left.map((event) => event.id)));
  });

  it('keeps the order of each key while publications fail at random, and loses none', async () => {
    const seen: BusEvent[] = [];
    let calls = 0;
    const bus = collectingBus(seen, async () => {
      calls += 1;
      await new Promise((resolve) => setTimeout(resolve, calls % 4));
      if (calls % 3 === 0) throw new Error('the bus is away');
    });
    startRelay(bus, { batchSize: 10 });
    const keys = rncs(20);
    for (let revision = 1; revision <= 8; revision += 1)
      await append(...keys.map((rnc) => taxpayerEvent(rnc, revision)));
    await until(async () => (await waiting()) === 0);
    for (const key of keys) expect(perKey(seen).get(key)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('shares its partitions among relays, each row by one of them, and takes over from a crashed one', async () => {
    const seen: BusEvent[] = [];
    const publishedBy = new Map<string, Set<number>>();
    const busOf = (relay: number) =>
      collectingBus(seen, async (batch) => {
        for (const event of batch) publishedBy.set(event.key, (publishedBy.get(event.key) ?? new Set()).add(relay));
        await new Promise((resolve) => setTimeout(resolve, 2));
      });
    const first = startRelay(busOf(1));
    await first.drained();
    const second = openDatabase(url);
    startRelay(busOf(2), { database: second });
    const holders = async () =>
      (
        await database.query<{ n: number }>(
          `SELECT count(*) AS n FROM pg_locks WHERE locktype = 'advisory' AND classid = 3791 AND objid < ${OUTBOX_PARTITIONS} AND granted
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) GROUP BY pid`,
        )
      ).rows.map((row) => row.n);
    await until(async () => JSON.stringify(await holders()) === '[4,4]');

    const keys = rncs(60);
    for (let revision = 1; revision <= 5; revision += 1)
      await append(...keys.map((rnc) => taxpayerEvent(rnc, revision)));
    await until(() => seen.length === 300);
    expect([...publishedBy.values()].every((relays) => relays.size === 1)).toBe(true);
    expect(new Set([...publishedBy.values()].flatMap((relays) => [...relays]))).toEqual(new Set([1, 2]));

    await first.stop();
    await append(...keys.map((rnc) => taxpayerEvent(rnc, 6)));
    await until(() => seen.length === 360);
    for (const key of keys) expect(perKey(seen).get(key)).toEqual([1, 2, 3, 4, 5, 6]);
    await second.close();
  });

  it('gives no partition back whose rows are being read: no other relay sends them as well', async () => {
    const seen: BusEvent[] = [];
    const first = startRelay(collectingBus(seen));
    await first.drained();
    const other = openDatabase(url);
    const keys = rncs(40);
    // While the table is locked, the first relay's query waits; sessions that only hold leases do not.
    await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE outbox IN SHARE ROW EXCLUSIVE MODE');
      for (let revision = 1; revision <= 3; revision += 1)
        await appendToOutbox(
          tx,
          keys.map((rnc) => taxpayerEvent(rnc, revision)),
        );
      await tx.query('LOCK TABLE outbox IN ACCESS EXCLUSIVE MODE');
      const isReading = async () =>
        (
          await other.query(
            `SELECT 1 FROM pg_stat_activity WHERE application_name = 'ecf outbox relay' AND datname = current_database()
             AND query LIKE 'SELECT o.position%' AND wait_event_type = 'Lock'`,
          )
        ).rowCount > 0;
      first.wake();
      await until(isReading);
      startRelay(collectingBus(seen), { database: other });
      // Two relays count each other repeatedly and would share the partitions.
      await new Promise((resolve) => setTimeout(resolve, 500));
    });
    await until(async () => (await waiting()) === 0);
    expect(seen).toHaveLength(120);
    for (const key of keys) expect(perKey(seen).get(key)).toEqual([1, 2, 3]);
    await other.close();
  });

  it('notifies the relay of a partition about rows that another process appended', async () => {
    const seen: BusEvent[] = [];
    const holder = startRelay(collectingBus(seen), { pollMs: 3_600_000, rebalanceMs: 3_600_000 });
    await holder.drained();
    const other = openDatabase(url);
    const standby = startRelay(collectingBus([]), { database: other, pollMs: 3_600_000, rebalanceMs: 3_600_000 });
    await until(
      async () =>
        (
          await database.query(
            'SELECT 1 FROM pg_locks WHERE classid = 3791 AND objid = 1000 AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())',
          )
        ).rowCount === 2,
    );
    await new Promise((resolve) => setTimeout(resolve, 50));
    await other.transaction((tx) => appendToOutbox(tx, [taxpayerEvent('131000001')]));
    await until(() => seen.length === 1);
    await standby.stop();
    await other.close();
  });

  it('continues after its session was cut', async () => {
    const seen: BusEvent[] = [];
    const relay = startRelay(collectingBus(seen));
    await relay.drained();
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ecf outbox relay' AND datname = current_database()",
    );
    await append(taxpayerEvent('131000001'));
    await until(() => seen.length === 1);
  });

  it('measures the number and age of waiting rows', async () => {
    const metrics = createMetrics();
    startRelay(
      collectingBus([], () => Promise.reject(new Error('away'))),
      { metrics },
    );
    await append(taxpayerEvent('131000001'), taxpayerEvent('131000002'));
    const text = await metrics.render();
    expect(text).toContain('ecf_outbox_pending{service="test"} 2');
    expect(text).toMatch(/ecf_outbox_lag_seconds\{service="test"\} [\d.e-]+/);
    await until(async () => /ecf_outbox_failures_total\{service="test"\} [1-9]/.test(await metrics.render()));
  });

  it('runs one cheap query in each interval while idle', async () => {
    const relay = startRelay(collectingBus([]), { pollMs: 100, rebalanceMs: 3_600_000 });
    await relay.drained();
    // Each statement of the relay's sessions has its own start time.
    const starts = new Map<string, Set<number>>();
    const longest = () => Math.max(...[...starts.values()].map((times) => times.size));
    await until(async () => {
      const { rows } = await database.query<{ pid: number; query: string; at: number }>(
        `SELECT pid, query, extract(epoch FROM query_start)::float8 * 1000 AS at FROM pg_stat_activity
         WHERE application_name = 'ecf outbox relay' AND datname = current_database() AND query LIKE 'SELECT o.position%'`,
      );
      for (const { pid, at } of rows) starts.set(`${pid}`, (starts.get(`${pid}`) ?? new Set()).add(at));
      return starts.size > 0 && longest() > 8;
    });
    const times = [...starts.values()].flatMap((each) => [...each]).sort((a, b) => a - b);
    // The query after a late one seems early, so the test counts queries per time.
    const looks = times.slice(1);
    expect(looks.length).toBeGreaterThan(5);
    expect(((looks.at(-1) as number) - (looks[0] as number)) / (looks.length - 1)).toBeGreaterThan(80);
  });

  it('refuses an event that the topic does not allow before anything is written', () => {
    expect(() => taxpayerEvent('not an rnc')).toThrow('taxpayers.v1 taxpayer.changed: rnc');
  });
});

describe('outbox, bus and inbox together', () => {
  it('have each effect once, though a consumer crashes between its effect and its answer', async () => {
    await database.query('CREATE TABLE IF NOT EXISTS effects (rnc text, revision int)');
    const bus = createInProcessBus({
      logger: silentLogger,
      retry: { firstDelayMs: 1 },
    });
    let calls = 0;
    await bus.subscribe({
      topics: ['taxpayers.v1'],
      group: 'emission',
      handler: async (event) => {
        await database.transaction(async (tx) => {
          if (!(await once(tx, 'emission', event.id))) return;
          await tx.query('INSERT INTO effects VALUES ($1, $2)', [event.key, revisionOf(event)]);
        });
        calls += 1;
        if (calls % 2 === 1) throw new Error('crashed after the commit');
      },
    });
    startRelay(bus);
    await append(...rncs(20).map((rnc) => taxpayerEvent(rnc)));
    await until(async () => (await waiting()) === 0);
    const effects = await database.query<{ n: number; d: number }>(
      'SELECT count(*) AS n, count(DISTINCT rnc) AS d FROM effects',
    );
    expect(effects.rows[0]).toEqual({ n: 20, d: 20 });
    const week = 7 * 24 * 3_600_000;
    expect(await cleanInbox(database, new Date(Date.now() + week - 60_000))).toBe(0);
    expect(await cleanInbox(database, new Date(Date.now() + week + 60_000))).toBe(20);
    await bus.close();
  });

  it('count no attempt while the database hangs, for longer than all attempts may take', async () => {
    const [attempts, connectTimeoutMs] = [3, 50];
    const deadLetters = memoryDeadLetters();
    const retry = { attempts, firstDelayMs: 1, maxDelayMs: 1 };
    const bus = withDeadLetters(createInProcessBus({ logger: silentLogger, retry }), deadLetters);
    // One connection, which hangs; no other is free in time.
    const hanging = openDatabase(url, { max: 1, connectTimeoutMs });
    let pid = 0;
    await until(async () => {
      const { rows } = await hanging
        .query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
        .catch(() => ({ rows: [] }));
      pid = rows[0]?.pid ?? 0;
      return pid > 0;
    });
    const handled = new Set<string>();
    await bus.subscribe({
      topics: ['taxpayers.v1'],
      group: 'emission',
      handler: async (event) => {
        await hanging.transaction((tx) => once(tx, 'emission', event.id));
        handled.add(event.id);
      },
    });
    process.kill(pid, 'SIGSTOP');
    try {
      startRelay(bus);
      await append(...rncs(5).map((rnc) => taxpayerEvent(rnc)));
      await new Promise((resolve) => setTimeout(resolve, 4 * attempts * connectTimeoutMs));
      expect([handled.size, deadLetters.kept]).toEqual([0, []]);
    } finally {
      process.kill(pid, 'SIGCONT');
    }
    await until(async () => (await waiting()) === 0);
    expect([handled.size, deadLetters.kept]).toEqual([5, []]);
    await bus.close();
    await hanging.close();
  });
});
