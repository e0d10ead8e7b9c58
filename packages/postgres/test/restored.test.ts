import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database, openDatabase } from '../src/database.js';
import { settleRestores } from '../src/restored.js';

let database: Database;
beforeAll(async () => {
  const url = await (await startTestPostgres()).createDatabase('query');
  database = openDatabase(url, { max: 4, statementTimeoutMs: 200 });
});
afterAll(() => database.close());

describe('A restore', () => {
  it('is settled once, and other instances wait for it longer than the time limit of a statement.', async () => {
    await database.query('INSERT INTO restored (of_others, restored_at, backup_at) VALUES (false, now(), now())');
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    let settled = 0;
    let begun = () => {};
    const first = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const settling = settleRestores(database, async () => {
      settled += 1;
      begun();
      await released;
    });
    await first;
    const pauses: number[] = [];
    const waiting = settleRestores(
      database,
      async () => {
        settled += 1;
      },
      async (ms) => {
        pauses.push(ms);
        if (pauses.length < 3) return;
        release();
        await settling;
      },
    );
    await waiting.finally(release);
    expect([settled, pauses]).toEqual([1, [1_000, 1_000, 1_000]]);
  });

  it('is settled at the next start if settling it fails.', async () => {
    await database.query('UPDATE restored SET settled_at = NULL');
    const failing = settleRestores(database, async (tx) => {
      await tx.query('SELECT 1 / 0');
    });
    await expect(failing).rejects.toThrow(/division by zero/);
    let settled = 0;
    const settle = async () => {
      settled += 1;
    };
    await settleRestores(database, settle);
    await settleRestores(database, settle);
    expect(settled).toBe(1);
  });
});
