import { createHash } from 'node:crypto';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checkArchiveAtNight } from '../src/nightly-check.js';
import { type DocumentReader, XmlStoreError } from '../src/xml-store.js';

const TABLES = [{ table: 'document', key: ['id'] as const, files: [['xml_path', 'xml_sha256']] as const }];
const NIGHT = new Date('2026-11-28T07:30:00Z');

let database: Database;
beforeAll(async () => {
  database = openDatabase(await (await startTestPostgres()).createDatabase());
  await database.query('CREATE TABLE document (id bigint PRIMARY KEY, xml_path text, xml_sha256 text)');
  await database.query("INSERT INTO document SELECT n, 'a/' || n, $1 FROM generate_series(1, 9) n", [
    createHash('sha256').update('<ECF/>').digest('hex'),
  ]);
  await database.query('INSERT INTO document VALUES (10, NULL, NULL)');
});
afterAll(() => database.close());

/** Reads documents, of which one is missing; `after` runs after each read. */
async function readAt(now: Date, signal = new AbortController().signal, after = () => {}): Promise<string[]> {
  const read: string[] = [];
  const reader: DocumentReader = {
    async get(path) {
      read.push(path);
      after();
      if (path === 'a/3') throw new XmlStoreError('missing', 'There is no document under a/3.');
      return Buffer.from('<ECF/>');
    },
  };
  await checkArchiveAtNight({ database, tables: TABLES, reader, share: 100 }, now, signal);
  return read;
}

describe('the nightly check of the archive', () => {
  it('reads the documents of its share, also after one that is missing', async () => {
    expect((await readAt(NIGHT)).sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => `a/${id}`));
  });

  it('reads documents of every month, also if these are more than it reads in a night', async () => {
    await database.query('CREATE TABLE monthly (id bigint, xml_path text, xml_sha256 text) PARTITION BY RANGE (id)');
    for (const month of [0, 1, 2]) {
      const bounds = `FROM (${month * 8_000}) TO (${(month + 1) * 8_000})`;
      await database.query(`CREATE TABLE monthly_${month} PARTITION OF monthly FOR VALUES ${bounds}`);
    }
    await database.query("INSERT INTO monthly SELECT n, n / 8000, repeat('0', 64) FROM generate_series(0, 23999) n");
    await database.query('ANALYZE monthly');
    const read: string[] = [];
    const reader = { get: async (path: string) => Buffer.alloc(read.push(path)) };
    const tables = TABLES.map((one) => ({ ...one, table: 'monthly' }));
    await checkArchiveAtNight({ database, tables, reader, share: 100, mostRows: 6_000 }, NIGHT, AbortSignal.any([]));
    expect(new Set(read)).toEqual(new Set(['0', '1', '2']));
    expect(read.length).toBeLessThan(12_000);
  });

  it('does nothing in the other hours', async () => {
    expect(await readAt(new Date('2026-11-28T08:00:00Z'))).toEqual([]);
  });

  it('ends when the service stops', async () => {
    const stopping = new AbortController();
    expect(await readAt(NIGHT, stopping.signal, () => stopping.abort())).toHaveLength(1);
  });

  it('ends when the storage is unavailable', async () => {
    const reader = { get: () => Promise.reject(new XmlStoreError('unavailable', 'The storage is unavailable.')) };
    const check = checkArchiveAtNight({ database, tables: TABLES, reader, share: 100 }, NIGHT, AbortSignal.any([]));
    await expect(check).rejects.toThrow('The storage is unavailable.');
  });
});
