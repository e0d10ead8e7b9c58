import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '../src/database.js';
import { makeMonthPartitions, nextIdOf } from '../src/months.js';

const MONTHLY = [{ table: 'task', id: 'task_id' }];

let database: Database;
beforeAll(async () => {
  database = openDatabase(await (await startTestPostgres()).createDatabase(), { max: 4 });
  await database.query('CREATE SEQUENCE task_id_seq');
  await database.query('CREATE TABLE task (task_id bigint PRIMARY KEY, name text) PARTITION BY RANGE (task_id)');
  await database.query('CREATE TABLE task_default PARTITION OF task DEFAULT');
});
afterAll(() => database.close());

async function partitions(): Promise<string[]> {
  const { rows } = await database.query<{ name: string }>(
    `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'task'::regclass ORDER BY 1`,
  );
  return rows.map(({ name }) => name);
}

/** The name of the partition of a month, counted from the present one. */
function partition(ahead: number): string {
  const now = new Date();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + ahead)).toISOString();
  return `task_${month.slice(0, 4)}_${month.slice(5, 7)}`;
}

describe('a table partitioned by month', () => {
  it('gets the partitions of this month and the next three once, also from several instances', async () => {
    await Promise.all([1, 2, 3].map(() => makeMonthPartitions(database, MONTHLY)));
    expect(await partitions()).toEqual([...[0, 1, 2, 3].map(partition), 'task_default'].sort());
  });

  it('holds a row in the partition of the day on which its id was drawn', async () => {
    const { rows } = await database.query<{ id: number; place: string }>(
      `INSERT INTO task SELECT ${nextIdOf('task_id_seq')} RETURNING task_id AS id, tableoid::regclass::text AS place`,
    );
    expect(rows).toEqual([{ id: expect.any(Number), place: partition(0) }]);
    expect(rows[0]?.id).toBeLessThan(10 ** 15);
  });

  it('leaves rows of a month that had no partition in the default partition', async () => {
    await database.query(`DROP TABLE ${partition(3)}`);
    const now = new Date();
    const days = (Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 3, 7) - Date.UTC(2020, 0, 1)) / 86_400_000;
    await database.query('INSERT INTO task VALUES ($1::bigint << 36)', [days]);
    await makeMonthPartitions(database, MONTHLY);
    expect(await partitions()).not.toContain(partition(3));
    expect((await database.query('SELECT FROM task_default')).rowCount).toBe(1);
  });

  it('gives up on a lock that another session holds, and makes the partitions later', async () => {
    await database.query(`DROP TABLE ${partition(2)}`);
    await database.transaction(async (tx) => {
      await tx.query('LOCK TABLE task IN ROW EXCLUSIVE MODE');
      await expect(makeMonthPartitions(database, MONTHLY)).rejects.toMatchObject({ code: '55P03' });
    });
    await makeMonthPartitions(database, MONTHLY);
    expect(await partitions()).toContain(partition(2));
  });
});
