import { createMetrics } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { memoryDeadLetters, silentLogger } from '@ecf/test-support/services';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestPostgres } from '../../test-servers/src/postgres.js';
import { createInProcessBus } from '../src/bus.in-process.js';
import type { Bus, BusEvent } from '../src/bus.js';
import { withDeadLetters } from '../src/dead-letters.js';
import { cleanInbox, once } from '../src/outbox/inbox.js';
import { appendToOutbox } from '../src/outbox/outbox.js';
import { createOutboxRelay, type OutboxRelay, type OutboxRelayOptions } from '../src/outbox/outbox-relay.js';
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
  it('publishes committed events once, and no event that was rolled back', async () => {
    const seen: BusEvent[] = [];
    startRelay(collectingBus(seen), { pollMs: 60_000 });
    const kept = taxpayerEvent('131000001');
    await append(kept);
    const undone = database.transaction(async (tx) => {
      await appendToOutbox(tx, [taxpayerEvent('131000002')]);
      throw new Error('undone');
    });
    await expect(undone).rejects.toThrow('undone');
    await until(async () => (await waiting()) === 0);
    expect(seen).toEqual([kept]);
  });

  it('publishes the rows of a process that has died', async () => {
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
      if (calls % 3 === 0) throw new Error('the bus is unreachable');
    });
    startRelay(bus, { batchSize: 10 });
    const keys = rncs(20);
    for (let revision = 1; revision <= 8; revision += 1)
      await append(...keys.map((rnc) => taxpayerEvent(rnc, revision)));
    await until(async () => (await waiting()) === 0);
    for (const key of keys) expect(perKey(seen).get(key)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('publishes other keys while a publication takes long, and the same key after it', async () => {
    const seen: BusEvent[] = [];
    const events = [1, 2].map((revision) => taxpayerEvent('131000001', revision)) as [BusEvent, BusEvent];
    let isHeld = false;
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    startRelay(
      collectingBus(seen, async (batch) => {
        if (!batch.some(({ id }) => id === events[0].id)) return;
        isHeld = true;
        await released;
      }),
    );
    await append(events[0]);
    await until(() => isHeld);
    await append(events[1], taxpayerEvent('131000002'));
    await until(() => seen.length === 1);
    expect(seen[0]?.key).toBe('131000002');
    release();
    await until(async () => (await waiting()) === 0);
    expect(perKey(seen).get('131000001')).toEqual([1, 2]);
  });

  it('is published by one relay; another one takes over when its process ends, in the order of each key', async () => {
    const seen: BusEvent[] = [];
    const publishers = new Set<number>();
    const databases = [openDatabase(url), openDatabase(url)] as const;
    const busOf = (relay: number) =>
      collectingBus(seen, async () => {
        publishers.add(relay);
      });
    const [first] = databases.map((database, index) => startRelay(busOf(index), { database }));
    const keys = rncs(60);
    for (let revision = 1; revision <= 5; revision += 1)
      await append(...keys.map((rnc) => taxpayerEvent(rnc, revision)));
    await until(async () => (await waiting()) === 0);
    expect(publishers.size).toBe(1);
    const stopped = publishers.has(0) ? first : relays.at(-1);
    await stopped?.stop();
    await append(...keys.map((rnc) => taxpayerEvent(rnc, 6)));
    await until(async () => (await waiting()) === 0);
    expect(publishers.size).toBe(2);
    expect(seen).toHaveLength(360);
    for (const key of keys) expect(perKey(seen).get(key)).toEqual([1, 2, 3, 4, 5, 6]);
    await Promise.all(relays.splice(0).map((relay) => relay.stop()));
    await Promise.all(databases.map((database) => database.close()));
  });

  it('wakes the relay of another process for rows that this process appended', async () => {
    const seen: BusEvent[] = [];
    startRelay(collectingBus(seen), { pollMs: 3_600_000 });
    await append(taxpayerEvent('131000001'));
    await until(() => seen.length === 1);
    const other = openDatabase(url);
    const standby = startRelay(collectingBus([]), { database: other, pollMs: 3_600_000 });
    await other.transaction((tx) => appendToOutbox(tx, [taxpayerEvent('131000002')]));
    await until(() => seen.length === 2);
    await standby.stop();
    await other.close();
  });

  it('continues after its session was cut', async () => {
    const seen: BusEvent[] = [];
    startRelay(collectingBus(seen));
    await append(taxpayerEvent('131000002'));
    await until(() => seen.length === 1);
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ecf outbox relay' AND datname = current_database()",
    );
    await append(taxpayerEvent('131000001'));
    // The first event may be published again: the cut may have prevented the deletion of its row.
    await until(() => seen.some(({ key }) => key === '131000001'));
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

  it('refuses an event that the topic does not allow before it writes a row', () => {
    expect(() => taxpayerEvent('not an rnc')).toThrow('taxpayers.v1 taxpayer.changed: rnc');
  });
});

describe('outbox, bus and inbox together', () => {
  it('have each effect once, although a consumer crashes between its effect and its answer', async () => {
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
    const [attempts, connectTimeoutMs] = [3, 200];
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
