import { checkReadiness } from '@ecf/http';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createStorageReady } from '../src/storage-ready.js';

let url: string;
let database: Database;
beforeAll(async () => {
  const server = await startTestPostgres();
  url = await server.createDatabase();
  database = openDatabase(url, { max: 4 });
});
afterAll(() => database.close());

describe('the readiness check of the storage', () => {
  const ready = (folder?: string, free = 0) => createStorageReady(database, folder, async () => free)();

  it('fails from the first error for a full disk until the database can write again', async () => {
    await ready();
    // Any statement that needs new space fails, as on a full disk.
    await database.query(
      `CREATE FUNCTION full_disk() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'no space' USING ERRCODE = '53100'; END $$`,
    );
    await database.query('CREATE EVENT TRIGGER full_disk ON ddl_command_start EXECUTE FUNCTION full_disk()');
    await ready();
    await expect(database.query('CREATE TABLE more (id int)')).rejects.toThrow('no space');
    for (let look = 0; look < 2; look += 1) await expect(ready()).rejects.toMatchObject({ code: 'storage_full' });
    await expect(checkReadiness({ storage: ready })).resolves.toEqual({
      ready: false,
      checks: { storage: 'storage_full' },
    });
    const superuser = openDatabase(url, { settings: { event_triggers: 'off' } });
    await superuser.query('DROP EVENT TRIGGER full_disk');
    await superuser.close();
    await ready();
    expect((await database.query("SELECT FROM pg_class WHERE relname = 'ecf_storage_probe'")).rowCount).toBe(0);
  });

  it('fails while the disk of the folder of the database has less than 64 MiB free', async () => {
    await expect(ready('/data', 64 * 1024 * 1024 - 1)).rejects.toMatchObject({ code: 'storage_full' });
    await ready('/data', 64 * 1024 * 1024);
  });
});
