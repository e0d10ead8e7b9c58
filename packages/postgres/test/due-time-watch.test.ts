import { startTestPostgres } from '@ecf/test-servers/postgres';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '../src/database.js';
import { createDueTimeWatch, type DueTimeWatch } from '../src/due-work/due-time-watch.js';

let url: string;
let database: Database;
let watch: DueTimeWatch | null = null;
let wakes = 0;
beforeAll(async () => {
  url = await (await startTestPostgres()).createDatabase();
  database = openDatabase(url, { max: 4 });
  await database.query('CREATE TABLE task (due_at timestamptz); CREATE TABLE reservation (until timestamptz)');
});
beforeEach(async () => {
  await database.query('TRUNCATE task, reservation');
  wakes = 0;
});
afterEach(() => watch?.stop());
afterAll(() => database.close());

function start(): void {
  watch = createDueTimeWatch({
    database,
    columns: [
      { table: 'task', column: 'due_at', longestMs: 60_000 },
      { table: 'reservation', column: 'until', longestMs: 60_000, wakes: false },
    ],
    wake: () => {
      wakes += 1;
    },
    failed: (error) => {
      throw error;
    },
  });
  watch.start();
}

const addTask = (dueIn: string) => database.query(`INSERT INTO task VALUES (now() + interval '${dueIn}')`);

describe('the watch of due times', () => {
  it('wakes the loops when work is due at the start, and again while it stays due', async () => {
    await addTask('-1 second');
    start();
    await until(() => wakes >= 2);
  });

  it('wakes the loops at the due time of work that was stored before the start', async () => {
    await addTask('300 milliseconds');
    start();
    await until(() => wakes === 1);
    expect((await database.query('SELECT FROM task WHERE due_at <= now()')).rowCount).toBe(1);
  });

  it('wakes the loops for work that this process stores, in a statement or in a transaction', async () => {
    start();
    await addTask('0 seconds');
    await until(() => wakes >= 1);
    await database.query('TRUNCATE task');
    const before = wakes;
    await database.transaction((tx) =>
      tx.query('WITH added AS (INSERT INTO task VALUES (now()) RETURNING due_at) SELECT due_at FROM added'),
    );
    await until(() => wakes > before);
  });

  it('does not wake the loops for a reservation, and brings it back to its longest duration', async () => {
    await database.query("INSERT INTO reservation VALUES (now() - interval '1 hour'), (now() + interval '92 days')");
    start();
    const tooLate = "SELECT FROM reservation WHERE until > now() + interval '1 day'";
    while ((await database.query(tooLate)).rowCount > 0) await new Promise((resolve) => setTimeout(resolve, 10));
    expect(wakes).toBe(0);
  });
});

describe('a database', () => {
  it('reports committed writes, but neither reads nor writes that were rolled back', async () => {
    let writes = 0;
    const end = database.onWrite(() => {
      writes += 1;
    });
    await addTask('0 seconds');
    await database.query('SELECT * FROM task FOR UPDATE');
    await database.query("UPDATE task SET due_at = now() WHERE due_at > now() + interval '1 day'");
    await database
      .transaction(async (tx) => {
        await tx.query('DELETE FROM task');
        throw new Error('rolled back');
      })
      .catch(() => undefined);
    expect(writes).toBe(1);
    await database.transaction(async (tx) => {
      await tx.query('UPDATE task SET due_at = now()');
      await tx.query('DELETE FROM task');
    });
    expect(writes).toBe(2);
    end();
    await addTask('0 seconds');
    expect(writes).toBe(2);
  });
});
