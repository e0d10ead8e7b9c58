import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startTestPostgres, type TestPostgres } from '../../test-servers/src/postgres.js';
import { type Database, openDatabase } from '../src/database.js';
import { isDatabaseUnavailable, isUniqueViolation, sqlState } from '../src/database-errors.js';
import { createDatabaseIfMissing, MIGRATION_LOCK, migrate } from '../src/migrate.js';
import { createSharedCalls } from '../src/shared-calls.js';

let server: TestPostgres;
let url: string;
let database: Database;
beforeAll(async () => {
  server = await startTestPostgres();
  url = await server.createDatabase();
  database = openDatabase(url, { max: 4 });
  await database.query('CREATE TABLE things (id int PRIMARY KEY, name text)');
});
afterAll(() => database.close());

/** A message of the server, as the protocol frames it. */
const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, body]);
};

it('a connection that ends as soon as it is ready fails the call, not the process', async () => {
  const fatal = Buffer.from('SFATAL\0C57P01\0Mterminating connection\0\0');
  const once = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () =>
      socket.end(Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I')), message('E', fatal)])),
    );
  });
  await new Promise<void>((resolve) => {
    once.listen(0, '127.0.0.1', resolve);
  });
  const broken = openDatabase(`postgresql://x@127.0.0.1:${(once.address() as net.AddressInfo).port}/x`);
  const failure = await broken.transaction((tx) => tx.query('SELECT 1')).catch((error) => error);
  expect(isDatabaseUnavailable(failure)).toBe(true);
  await broken.close();
  once.close();
});

describe('a database', () => {
  it('gives whole numbers as numbers, days and decimals as text, times as Date', async () => {
    const { rows } = await database.query(
      "SELECT 9007199254740991::int8 AS big, '2026-02-28'::date AS day, 1.10::numeric AS amount, '2026-01-01T00:00:00-04'::timestamptz AS time, '{\"a\":1}'::jsonb AS json",
    );
    expect(rows[0]).toEqual({
      big: 9007199254740991,
      day: '2026-02-28',
      amount: '1.10',
      time: new Date('2026-01-01T04:00:00Z'),
      json: { a: 1 },
    });
    await expect(database.query('SELECT 9007199254740993::int8')).rejects.toThrow('too large for this program');
  });

  it('prepares named statements and returns the number of rows', async () => {
    const insert = { name: 'insert_thing', text: 'INSERT INTO things VALUES ($1, $2) ON CONFLICT DO NOTHING' };
    expect((await database.query(insert, [1, 'a'])).rowCount).toBe(1);
    expect((await database.query(insert, [1, 'b'])).rowCount).toBe(0);
    expect((await database.query<{ name: string }>('SELECT name FROM things WHERE id = $1', [1])).rows).toEqual([
      { name: 'a' },
    ]);
  });

  it('commits a transaction completely or not at all, and runs effects only after the commit', async () => {
    const effects: string[] = [];
    await database.transaction(async (tx) => {
      tx.afterCommit(() => effects.push('kept'));
      await tx.query("INSERT INTO things VALUES (10, 'kept')");
      expect(effects).toEqual([]);
    });
    await expect(
      database.transaction(async (tx) => {
        tx.afterCommit(() => effects.push('undone'));
        await tx.query("INSERT INTO things VALUES (11, 'undone')");
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(effects).toEqual(['kept']);
    expect((await database.query('SELECT id FROM things WHERE id IN (10, 11)')).rows).toEqual([{ id: 10 }]);
  });

  it('repeats a transaction that lost a conflict with another one', async () => {
    await database.query("INSERT INTO things VALUES (20, '0'), (21, '0')");
    const add = (first: number, second: number) =>
      database.transaction(async (tx) => {
        await tx.query('UPDATE things SET name = (name::int + 1)::text WHERE id = $1', [first]);
        await new Promise((resolve) => setTimeout(resolve, 20));
        await tx.query('UPDATE things SET name = (name::int + 1)::text WHERE id = $1', [second]);
      });
    await Promise.all([add(20, 21), add(21, 20)]);
    expect((await database.query('SELECT name FROM things WHERE id IN (20, 21)')).rows).toEqual([
      { name: '2' },
      { name: '2' },
    ]);
  });

  it('names the constraint that was violated', async () => {
    const twice = await database.query("INSERT INTO things VALUES (1, 'again')").catch((error) => error);
    expect(isUniqueViolation(twice, 'things_pkey')).toBe(true);
    expect(isUniqueViolation(twice, 'other')).toBe(false);
    expect(sqlState(twice)).toBe('23505');
    expect(isDatabaseUnavailable(twice)).toBe(false);
  });

  it('reports that it is down, and works again when it is back', async () => {
    const away = openDatabase('postgresql://ecf:x@127.0.0.1:1/none');
    const error = await away.query('SELECT 1').catch((e) => e);
    expect(isDatabaseUnavailable(error)).toBe(true);
    expect(isDatabaseUnavailable(await away.transaction(async () => {}).catch((e) => e))).toBe(true);
    expect(
      isDatabaseUnavailable(new Error('in other words', { cause: new Error('once more', { cause: error }) })),
    ).toBe(true);
    const circle: { cause?: unknown } = new Error('of causes');
    circle.cause = circle;
    expect(isDatabaseUnavailable(circle)).toBe(false);
    await away.close();
    const foreign = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED', syscall: 'connect' });
    expect(isDatabaseUnavailable(foreign)).toBe(false);

    const cut = database.transaction(async (tx) => {
      const { rows } = await tx.query<{ pid: number }>('SELECT pg_backend_pid() AS pid');
      await database.query('SELECT pg_terminate_backend($1)', [rows[0]?.pid]);
      await tx.query('SELECT 1');
    });
    expect(isDatabaseUnavailable(await cut.catch((e) => e))).toBe(true);
    expect((await database.query('SELECT 1 AS one')).rows).toEqual([{ one: 1 }]);
  });

  it('cancels a statement that takes too long', async () => {
    const hasty = openDatabase(url, { statementTimeoutMs: 50 });
    const error = await hasty.query('SELECT pg_sleep(10)').catch((e) => e);
    expect(error).toMatchObject({ code: '57014' });
    expect(isDatabaseUnavailable(error)).toBe(true);
    await hasty.close();
  });

  it.each([
    ['08006', true],
    ['25006', true],
    ['53000', true],
    ['53100', true],
    ['53200', true],
    ['53300', true],
    ['57014', true],
    ['57P01', true],
    ['57P03', true],
    ['58030', true],
    ['22P02', false],
    ['23505', false],
    ['25P02', false],
    ['40001', false],
    ['42P01', false],
    ['57000', false],
    ['XX000', false],
  ])('counts as unavailable on SQLSTATE %s: %s', (code, away) => {
    expect(isDatabaseUnavailable(Object.assign(new Error('said by PostgreSQL'), { code }))).toBe(away);
  });
});

describe('a database that gives up a statement while it answers others', () => {
  /** Takes longer than the statement timeout. */
  const tooLong = (at: Database) =>
    at.transaction(async (tx) => {
      await tx.query('SET LOCAL statement_timeout = 20');
      await tx.query('SELECT pg_sleep(60)');
    });

  it('has the items of a batch run one by one, and fails the rest after it gave up two of them', async () => {
    const calls: string[][] = [];
    const shared = createSharedCalls<string, string>({
      maxItems: 10,
      maxInFlight: 1,
      keyOf: (item) => item,
      async work(items) {
        calls.push([...items]);
        if (items.some((item) => item.startsWith('heavy'))) await tooLong(database);
        return items;
      },
    });
    const run = (...items: string[]) =>
      Promise.all(
        items.map((item) =>
          shared.run(item).then(
            () => 'done',
            ({ code }) => code,
          ),
        ),
      );
    expect(await run('a', 'heavy 1', 'b')).toEqual(['done', '57014', 'done']);
    expect(calls).toEqual([['a', 'heavy 1', 'b'], ['a'], ['heavy 1'], ['b']]);
    expect(await run('a', 'heavy 1', 'heavy 2', 'b')).toEqual(['done', '57014', '57014', '57014']);
  });
});

describe('migrations', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-migrations-'));
    write(
      '20260101000000_first',
      'CREATE TABLE first (id int);\nCREATE FUNCTION f() RETURNS int AS $$ BEGIN RETURN 1; END; $$ LANGUAGE plpgsql;',
    );
    write('20260102000000_second', 'ALTER TABLE first ADD COLUMN name text;');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  function write(name: string, sql: string): void {
    mkdirSync(path.join(folder, name), { recursive: true });
    writeFileSync(path.join(folder, name, 'migration.sql'), sql);
  }

  it('are applied once, in order, if many instances start at the same moment', async () => {
    const fresh = await server.createDatabase();
    const all = await Promise.all([migrate(fresh, folder), migrate(fresh, folder), migrate(fresh, folder)]);
    expect(all.flat()).toEqual(['20260101000000_first', '20260102000000_second']);
    expect(await migrate(fresh, folder)).toEqual([]);
    const check = openDatabase(fresh);
    const { rows } = await check.query(
      'SELECT migration_name, finished_at IS NOT NULL AS finished, applied_steps_count AS steps FROM _prisma_migrations ORDER BY 1',
    );
    expect(rows).toEqual([
      { migration_name: '20260101000000_first', finished: true, steps: 1 },
      { migration_name: '20260102000000_second', finished: true, steps: 1 },
    ]);
    await check.close();
  });

  describe('while another session holds a lock on a table', () => {
    let fresh: string;
    let holder: Database;
    let release: () => void = () => undefined;
    let held: Promise<unknown>;
    beforeEach(async () => {
      fresh = await server.createDatabase();
      await migrate(fresh, folder);
      write('20260103000000_third', 'ALTER TABLE first ADD COLUMN third int;');
      holder = openDatabase(fresh);
      await new Promise<void>((locked) => {
        held = holder.transaction(async (tx) => {
          await tx.query('SELECT * FROM first');
          locked();
          await new Promise<void>((resolve) => {
            release = resolve;
          });
        });
      });
    });
    afterEach(async () => {
      release();
      await held;
      await holder.close();
      rmSync(path.join(folder, '20260103000000_third'), { recursive: true });
    });

    it('refuse the start after a bounded number of tries and block no other statement meanwhile', async () => {
      const refused = expect(migrate(fresh, folder, { lockTimeoutMs: 100, tries: 3, pauseMs: 20 })).rejects.toThrow(
        /^The migration 20260103000000_third did not get its lock within 0\.1 seconds in 3 tries/,
      );
      // Statements behind the waiting migration continue when its lock times out.
      for (let i = 0; i < 5; i += 1) await holder.query('SELECT * FROM first');
      await refused;
      expect((await holder.query('SELECT FROM _prisma_migrations')).rowCount).toBe(2);
    });

    it('are applied once the lock is released', async () => {
      let pauses = 0;
      const applied = migrate(fresh, folder, {
        lockTimeoutMs: 50,
        tries: 3,
        pauseMs: 10,
        pause: async () => {
          pauses += 1;
          release();
          await held;
        },
      });
      expect(await applied).toEqual(['20260103000000_third']);
      expect(pauses).toBe(1);
    });
  });

  it('that fail leave nothing behind and can be tried again', async () => {
    const fresh = await server.createDatabase();
    await migrate(fresh, folder);
    write('20260103000000_third', '-- Not CONCURRENTLY.\nCREATE TABLE third (id int);\nSELECT nothing FROM nowhere;\n');
    await expect(migrate(fresh, folder)).rejects.toThrow(
      '20260103000000_third failed and was rolled back: relation "nowhere" does not exist',
    );
    write('20260103000000_third', 'CREATE TABLE third (id int);');
    expect(await migrate(fresh, folder)).toEqual(['20260103000000_third']);
    write('20260103000000_third', 'CREATE TABLE third (id int); -- edited');
    await expect(migrate(fresh, folder)).rejects.toThrow('20260103000000_third was edited after it was applied');
    rmSync(path.join(folder, '20260103000000_third'), { recursive: true });
  });

  it('create an index concurrently, outside a transaction, also after one that was cut off left an index', async () => {
    const fresh = await server.createDatabase();
    await migrate(fresh, folder);
    const other = openDatabase(fresh, { max: 1 });
    await other.query('CREATE INDEX first_id ON first (name)');
    write(
      '20260103000000_third',
      'DROP INDEX CONCURRENTLY IF EXISTS "first_id";\nCREATE INDEX CONCURRENTLY "first_id" ON "first" ("id");\n',
    );
    // An instance that waits for the others must not hold up the index.
    const all = await Promise.all([migrate(fresh, folder), migrate(fresh, folder), migrate(fresh, folder)]);
    expect(all.flat()).toEqual(['20260103000000_third']);
    const { rows } = await other.query("SELECT indexdef FROM pg_indexes WHERE indexname = 'first_id'");
    expect(rows).toEqual([{ indexdef: expect.stringContaining('(id)') }]);
    await other.close();
    rmSync(path.join(folder, '20260103000000_third'), { recursive: true });
  });

  it('complete an index of a table that is partitioned, also after one of a partition was cut off', async () => {
    const fresh = await server.createDatabase();
    const other = openDatabase(fresh, { max: 1 });
    await other.query('CREATE TABLE monthly (id int, name text) PARTITION BY RANGE (id)');
    await other.query('CREATE TABLE monthly_1 PARTITION OF monthly FOR VALUES FROM (1) TO (2)');
    await other.query('CREATE TABLE monthly_default PARTITION OF monthly DEFAULT');
    write('20260103000000_third', 'CREATE UNIQUE INDEX "monthly_id" ON ONLY "monthly" ("id") WHERE id > 0;');
    await other.query('INSERT INTO monthly VALUES (1), (1), (3)');
    await expect(migrate(fresh, folder)).rejects.toThrow('could not create unique index "monthly_id_1"');
    await other.query('DELETE FROM monthly WHERE id = 1');
    expect(await migrate(fresh, folder)).toEqual([]);
    await other.query('CREATE TABLE monthly_2 PARTITION OF monthly FOR VALUES FROM (2) TO (3)');
    const { rows } = await other.query(
      `SELECT c.relname, i.indisvalid AND i.indisunique AND i.indpred IS NOT NULL AS right FROM pg_index i
         JOIN pg_class c ON c.oid = i.indrelid WHERE c.relname LIKE 'monthly%' ORDER BY 1`,
    );
    expect(rows).toEqual(
      ['monthly', 'monthly_1', 'monthly_2', 'monthly_default'].map((relname) => ({ relname, right: true })),
    );
    await other.close();
    rmSync(path.join(folder, '20260103000000_third'), { recursive: true });
  });

  it('create an index concurrently while another instance waits to migrate', async () => {
    const fresh = await server.createDatabase();
    await migrate(fresh, folder);
    write(
      '20260103000000_third',
      'DROP INDEX CONCURRENTLY IF EXISTS "first_id";\nCREATE INDEX CONCURRENTLY "first_id" ON "first" ("id");\n',
    );
    const holder = openDatabase(fresh, { max: 1 });
    await holder.query('SELECT pg_advisory_lock($1)', [MIGRATION_LOCK]);
    const both = Promise.all([migrate(fresh, folder), migrate(fresh, folder)]);
    const trying = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%advisory_lock%'`;
    while ((await holder.query(trying)).rowCount !== 2);
    await holder.query('SELECT pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    expect((await both).flat()).toEqual(['20260103000000_third']);
    await holder.close();
    rmSync(path.join(folder, '20260103000000_third'), { recursive: true });
  });

  it('are applied after the first one has created the database', async () => {
    const named = new URL(url);
    named.pathname = `/made_here_${process.pid}`;
    const made = await Promise.all([createDatabaseIfMissing(named.href), createDatabaseIfMissing(named.href)]);
    expect(made.sort()).toEqual([false, true]);
    expect(await createDatabaseIfMissing(named.href)).toBe(false);
    expect(await migrate(named.href, folder)).toHaveLength(2);
  });

  it('are applied to a missing database by the program that runs before the service starts', async () => {
    const named = new URL(url);
    named.pathname = `/made_before_${process.pid}`;
    const emission = path.resolve('services/emission');
    const main = path.resolve('packages/postgres/dist/migrate.main.js');
    const run = (env: NodeJS.ProcessEnv) =>
      spawnSync(process.execPath, [main], { cwd: emission, env, encoding: 'utf8' });
    expect(run({ DATABASE_URL: named.href })).toMatchObject({
      status: 0,
      stdout: expect.stringMatching(/^Migrated: .*first/),
    });
    expect(run({ DATABASE_URL: named.href })).toMatchObject({ status: 0, stdout: 'The database is up to date.\n' });
    expect(await migrate(named.href, path.join(emission, 'prisma/migrations'))).toEqual([]);
    // An administrator migrates the database of a service: its user can use the tables, and migrate them later.
    const role = `service_${process.pid}`;
    await database.query(`CREATE ROLE ${role} LOGIN PASSWORD 'service'`);
    await database.query(`CREATE DATABASE ${role} OWNER ${role}`);
    named.pathname = `/${role}`;
    expect(run({ DATABASE_URL: named.href })).toMatchObject({ status: 0 });
    Object.assign(named, { username: role, password: 'service' });
    const service = openDatabase(named.href, { max: 1 });
    expect((await service.query('SELECT FROM attempt')).rowCount).toBe(0);
    await service.query('ALTER TABLE emission ADD COLUMN later text');
    await service.close();
    expect(run({ DATABASE_URL: named.href })).toMatchObject({ status: 0, stdout: 'The database is up to date.\n' });
    named.password = 'wrong';
    named.username = 'nobody_here';
    const refused = run({ DATABASE_URL: named.href });
    expect(refused).toMatchObject({ status: 1, stderr: expect.stringMatching(/^The database was not migrated\. ./) });
    expect(refused.stderr).not.toContain('wrong');
    expect(run({})).toMatchObject({ status: 1, stderr: expect.stringContaining('DATABASE_URL is required') });
  });
});
