import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { silentLogger } from '@ecf/test-support/services';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { DeadLetter } from '../src/bus.js';
import { DEFAULT_RETRY, HandlerUnavailable, handleEvent } from '../src/handle-event.js';
import { taxpayerEvent } from './sample-events.js';

let url: string;
let database: Database;
beforeAll(async () => {
  const server = await startTestPostgres();
  url = await server.createDatabase();
  database = openDatabase(url, { max: 4 });
  await database.query('CREATE TABLE things (id int PRIMARY KEY, name text)');
});
afterAll(() => database.close());

describe('a database', () => {
  it('that is read-only costs an event no attempt, and its connections are not used again', async () => {
    const name = new URL(url).pathname.slice(1);
    const one = openDatabase(url, { max: 1 });
    // Applies to sessions that begin after it.
    await database.query(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
    const buried: unknown[] = [];
    const write = "INSERT INTO things VALUES (30, 'later')";
    const handle = () =>
      handleEvent(taxpayerEvent('101672919'), {
        group: 'test',
        handler: () => one.transaction(async (tx) => void (await tx.query(write))),
        retry: { ...DEFAULT_RETRY, attempts: 1 },
        deadLetters: { add: async (deadLetter) => void buried.push(deadLetter) },
        logger: silentLogger,
        signal: new AbortController().signal,
      });
    try {
      await expect(handle()).rejects.toThrow(HandlerUnavailable);
    } finally {
      await database.query(`ALTER DATABASE "${name}" RESET default_transaction_read_only`);
    }
    await handle();
    await one.close();
    expect(buried).toEqual([]);
    expect((await database.query('SELECT name FROM things WHERE id = 30')).rows).toEqual([{ name: 'later' }]);
  });
});

describe('a database that gives up a statement while it answers others', () => {
  /** Takes longer than the statement timeout. */
  const tooLong = (at: Database) =>
    at.transaction(async (tx) => {
      await tx.query('SET LOCAL statement_timeout = 20');
      await tx.query('SELECT pg_sleep(60)');
    });

  function handling(handler: () => Promise<void>) {
    const buried: DeadLetter[] = [];
    const handled = handleEvent(taxpayerEvent('101672919'), {
      group: 'test',
      handler,
      retry: { ...DEFAULT_RETRY, attempts: 1, firstDelayMs: 1, givenUp: { attempts: 4, maxDelayMs: 2 } },
      deadLetters: { add: async (deadLetter) => void buried.push(deadLetter) },
      logger: silentLogger,
      signal: new AbortController().signal,
    });
    return { buried, handled };
  }

  it('makes the event a dead letter after more attempts than an error does', async () => {
    const { buried, handled } = handling(() => tooLong(database));
    await handled;
    expect(buried).toMatchObject([{ attempts: 4, reason: expect.stringContaining('statement timeout') }]);
  });

  it('costs no attempt if it answers no statement', async () => {
    const one = openDatabase(url, { max: 1 });
    const { buried, handled } = handling(async () => {
      try {
        await tooLong(one);
      } finally {
        void one.close();
      }
    });
    await expect(handled).rejects.toThrow(HandlerUnavailable);
    expect(buried).toEqual([]);
  });
});
