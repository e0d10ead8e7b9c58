import { setTimeout as delay } from 'node:timers/promises';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '../src/database.js';
import { createDueWork, type DueWork, type DueWorkOptions, type DueWorkStore } from '../src/due-work/due-work.js';
import { describeDueWorkStore } from './due-work-contract.js';

interface Task {
  id: number;
}

let database: Database;
beforeAll(async () => {
  database = openDatabase(await (await startTestPostgres()).createDatabase(), { max: 6 });
  await database.query('CREATE TABLE task (id serial PRIMARY KEY, due_at timestamptz, handled int NOT NULL DEFAULT 0)');
});
beforeEach(() => database.query('TRUNCATE task'));
afterAll(() => database.close());

/** The simplest store: one table; a claim moves the due time to the end of the lease. */
const store: Required<DueWorkStore<Task>> = {
  async claimDue({ now, until, limit }) {
    const { rows } = await database.query<Task>(
      `WITH due AS MATERIALIZED (
         SELECT id, due_at FROM task WHERE due_at <= $1 ORDER BY due_at LIMIT $2 FOR UPDATE SKIP LOCKED),
       claimed AS (UPDATE task SET due_at = $3 FROM due WHERE task.id = due.id RETURNING task.id)
       SELECT due.id FROM due JOIN claimed USING (id) ORDER BY due.due_at`,
      [now, limit, until],
    );
    return rows;
  },
  async nextDue() {
    const { rows } = await database.query<{ due_at: Date | null }>('SELECT min(due_at) AS due_at FROM task');
    return rows[0]?.due_at ?? null;
  },
  async renew(tasks, until) {
    await database.query('UPDATE task SET due_at = $2 WHERE id = ANY($1)', [tasks.map(({ id }) => id), until]);
  },
};

async function add(dueAt: Date): Promise<string> {
  const { rows } = await database.query<Task>('INSERT INTO task (due_at) VALUES ($1) RETURNING id', [dueAt]);
  return String(rows[0]?.id);
}

async function finish({ id }: Task): Promise<void> {
  await database.query('UPDATE task SET due_at = NULL, handled = handled + 1 WHERE id = $1', [id]);
}

async function handledCounts(): Promise<number[]> {
  const { rows } = await database.query<{ handled: number }>('SELECT handled FROM task ORDER BY id');
  return rows.map(({ handled }) => handled);
}

describe('a table of tasks', () => {
  describeDueWorkStore(async () => ({ store, add, keyOf: ({ id }: Task) => String(id) }));
});

describe('the engine', () => {
  const engines: DueWork<Task>[] = [];
  afterEach(() => Promise.all(engines.splice(0).map((engine) => engine.stop())));

  function start(options: Partial<DueWorkOptions<Task>> = {}): DueWork<Task> {
    const engine = createDueWork<Task>({
      store,
      handle: finish,
      onError: () => undefined,
      clock: () => new Date(),
      leaseMs: 60_000,
      idleMs: 60_000,
      concurrency: 4,
      ...options,
    });
    engines.push(engine);
    engine.start();
    return engine;
  }

  it('handles every item once if many instances share the table', async () => {
    for (let i = 0; i < 60; i += 1) await add(new Date());
    start();
    start();
    start();
    await until(async () => (await handledCounts()).every((count) => count > 0));
    expect(await handledCounts()).toEqual(Array(60).fill(1));
  });

  it('wakes when an item falls due, long before its idle time', async () => {
    await add(new Date(Date.now() + 300));
    start();
    await until(async () => (await handledCounts())[0] === 1);
  });

  it('claims added work when it is woken', async () => {
    const engine = start();
    await delay(100);
    await add(new Date());
    engine.wake();
    await until(async () => (await handledCounts())[0] === 1);
  });

  it('takes over the item of an instance that ended, when the lease ends', async () => {
    await add(new Date());
    // An instance that claims and crashes.
    const leaseEnd = new Date(Date.now() + 400);
    await store.claimDue({ now: new Date(), until: leaseEnd, limit: 1 });
    const begun: number[] = [];
    start({
      handle(task) {
        begun.push(Date.now());
        return finish(task);
      },
    });
    await until(async () => (await handledCounts())[0] === 1);
    expect(begun).toEqual([expect.any(Number)]);
    expect(begun[0]).toBeGreaterThanOrEqual(leaseEnd.getTime());
  });

  it('renews the lease of an item that takes longer than the lease', async () => {
    const leaseMs = 300;
    let now = Date.now();
    await add(new Date(now));
    let begun = 0;
    let end: () => void = () => undefined;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const options = {
      leaseMs,
      idleMs: 50,
      clock: () => new Date(now),
      async handle(task: Task) {
        begun += 1;
        await ended;
        await finish(task);
      },
    };
    let [renewals, leasedUntil, claimedAt] = [0, 0, 0];
    start({
      ...options,
      store: {
        ...store,
        async renew(tasks, until) {
          renewals += 1;
          await store.renew(tasks, until);
          leasedUntil = until.getTime();
          renewals -= 1;
        },
      },
    });
    await until(() => begun === 1);
    start({
      ...options,
      store: {
        ...store,
        async claimDue(request) {
          const tasks = await store.claimDue(request);
          claimedAt = request.now.getTime();
          return tasks;
        },
      },
    });
    // The clock stands until the lease is renewed and the other instance has looked for work.
    for (let lease = 0; lease < 3; lease += 1) {
      now += leaseMs - 1;
      await until(() => renewals === 0 && leasedUntil === now + leaseMs && claimedAt === now);
    }
    end();
    await until(async () => (await handledCounts())[0] === 1);
    expect(begun).toBe(1);
  });

  it('reports the error of a handler and tries the item again after its lease', async () => {
    let now = Date.now();
    const id = Number(await add(new Date(now)));
    const errors: unknown[] = [];
    let tries = 0;
    start({
      idleMs: 50,
      clock: () => new Date(now),
      store: { claimDue: store.claimDue, nextDue: store.nextDue },
      onError: (error, item) => errors.push([(error as Error).message, item?.id]),
      async handle(task) {
        tries += 1;
        if (tries === 1) throw new Error('once');
        await finish(task);
      },
    });
    await until(() => errors.length === 1);
    now += 60_000;
    await until(async () => (await handledCounts())[0] === 1);
    expect(errors).toEqual([['once', id]]);
  });

  it('continues after an error of the store', async () => {
    await add(new Date());
    let failing = true;
    const errors: unknown[] = [];
    start({
      idleMs: 50,
      onError: (error) => errors.push(error),
      store: {
        claimDue: (request) => (failing ? Promise.reject(new Error('away')) : store.claimDue(request)),
      },
    });
    await until(() => errors.length > 1);
    failing = false;
    await until(async () => (await handledCounts())[0] === 1);
  });

  it('handles no more items at the same time than its concurrency allows', async () => {
    for (let i = 0; i < 12; i += 1) await add(new Date());
    let inFlight = 0;
    let most = 0;
    start({
      concurrency: 3,
      async handle(task) {
        inFlight += 1;
        most = Math.max(most, inFlight);
        await delay(20);
        await finish(task);
        inFlight -= 1;
      },
    });
    await until(async () => (await handledCounts()).every((count) => count === 1));
    expect(most).toBe(3);
  });

  it('lets other items pass the ones that take long, up to its bound', async () => {
    const hanging = [await add(new Date(1)), await add(new Date(2)), await add(new Date(3))].map(Number);
    for (let i = 0; i < 5; i += 1) await add(new Date(10));
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const engine = start({
      concurrency: 2,
      slow: { afterMs: 50, maxInFlight: 4 },
      async handle(task) {
        if (hanging.includes(task.id)) await released;
        await finish(task);
      },
    });
    await until(async () => (await handledCounts()).slice(3).every((count) => count === 1));
    expect(engine.inFlight()).toHaveLength(3);
    release();
    await until(async () => (await handledCounts()).every((count) => count === 1));
  });

  it('stops when the items in flight have ended, and claims nothing new', async () => {
    await add(new Date());
    let begun: () => void = () => undefined;
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const engine = start({
      concurrency: 1,
      async handle(task) {
        begun();
        await released;
        await finish(task);
      },
    });
    await running;
    await add(new Date());
    const stopped = engine.stop();
    release();
    await stopped;
    expect(await handledCounts()).toEqual([1, 0]);
  });

  it('handles the due items once on request, for tests that hold the clock', async () => {
    await add(new Date('2026-03-01T12:00:00Z'));
    const engine = createDueWork<Task>({
      store,
      handle: finish,
      onError: () => undefined,
      clock: () => new Date('2026-03-01T12:00:01Z'),
      leaseMs: 1_000,
      idleMs: 1_000,
      concurrency: 4,
    });
    expect(await engine.runOnce()).toBe(1);
    expect(await engine.runOnce()).toBe(0);
  });
});
