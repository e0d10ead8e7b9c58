import { createHash } from 'node:crypto';
import { createMetrics, type Logger } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createIntegrityErrors } from '../src/integrity-errors.js';
import { type ArchiveCheckParts, createArchiveCheck } from '../src/nightly-check.js';
import { type DocumentReader, XmlStoreError } from '../src/xml-store.js';

const TABLES = [{ table: 'document', key: ['id'] as const, files: [['xml_path', 'xml_sha256']] as const }];
const NIGHT = new Date('2026-11-28T07:30:00Z');
const DAY = new Date('2026-11-28T08:00:00Z');
const ALL = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((id) => `a/${id}`);

const logger = { info: () => {}, warn: () => {}, error: () => {} } as unknown as Logger;

let database: Database;
beforeAll(async () => {
  database = openDatabase(await (await startTestPostgres()).createDatabase());
  await database.query('CREATE TABLE document (id bigint PRIMARY KEY, xml_path text, xml_sha256 text)');
  await database.query("INSERT INTO document SELECT n, 'a/' || n, $1 FROM generate_series(1, 9) n", [
    createHash('sha256').update('<ECF/>').digest('hex'),
  ]);
  await database.query('INSERT INTO document VALUES (10, NULL, NULL)');
  await database.query(`CREATE TABLE damaged_document (path text, sha256 text, kind text, found_at timestamptz DEFAULT now(),
    PRIMARY KEY (path, sha256))`);
});
beforeEach(async () => {
  await database.query('TRUNCATE damaged_document');
});
afterAll(() => database.close());

/** A check of an archive whose documents have these faults; `read` are the paths that it has read. */
function checkOf(options: Partial<ArchiveCheckParts> & { whenRead?: () => void } = {}) {
  const faults = new Map<string, 'missing' | 'unavailable'>();
  const read: string[] = [];
  const archive: DocumentReader = {
    async get(path) {
      read.push(path);
      options.whenRead?.();
      const fault = faults.get(path);
      if (fault !== undefined) throw new XmlStoreError(fault, `${path} is ${fault}.`);
      return Buffer.from('<ECF/>');
    },
  };
  const metrics = createMetrics();
  const service = { service: 'emission', database, metrics, logger };
  const integrity = createIntegrityErrors({ ...service, archive });
  const reader = integrity.reported(archive);
  const check = createArchiveCheck({ ...service, tables: TABLES, reader, integrity, share: 100, ...options });
  const run = (now = NIGHT, signal = new AbortController().signal) => check(now, signal);
  return { faults, read, run, metrics };
}

describe('the nightly check of the archive', () => {
  it('reads the documents of its share, also after one that is missing and one that cannot be read', async () => {
    const { faults, read, run, metrics } = checkOf();
    faults.set('a/3', 'missing').set('a/5', 'unavailable');
    await run();
    expect(read.sort()).toEqual(ALL);
    const rendered = await metrics.render();
    for (const [outcome, count] of Object.entries({ intact: 7, damaged: 1, unavailable: 1 }))
      expect(rendered).toContain(
        `ecf_archive_checked_documents_total{service="emission",outcome="${outcome}"} ${count}\n`,
      );
  });

  it('reads documents of every month, also if these are more than it reads in a night', async () => {
    await database.query('CREATE TABLE monthly (id bigint, xml_path text, xml_sha256 text) PARTITION BY RANGE (id)');
    for (const month of [0, 1, 2]) {
      const bounds = `FROM (${month * 8_000}) TO (${(month + 1) * 8_000})`;
      await database.query(`CREATE TABLE monthly_${month} PARTITION OF monthly FOR VALUES ${bounds}`);
    }
    await database.query("INSERT INTO monthly SELECT n, n / 8000, repeat('0', 64) FROM generate_series(0, 23999) n");
    await database.query('ANALYZE monthly');
    const tables = TABLES.map((one) => ({ ...one, table: 'monthly' }));
    const { read, run } = checkOf({ tables, mostRows: 6_000 });
    await run();
    expect(new Set(read)).toEqual(new Set(['0', '1', '2']));
    expect(read.length).toBeLessThan(12_000);
  });

  it('reads in the other hours only the documents that it found damaged, until they are intact', async () => {
    const { faults, read, run, metrics } = checkOf();
    await run(DAY);
    expect(read).toEqual([]);
    faults.set('a/3', 'missing');
    await run();
    const shown = async () => /^ecf_damaged_documents\{service="emission"\} (\d+)$/m.exec(await metrics.render())?.[1];
    for (const fault of ['missing', 'unavailable'] as const) {
      faults.set('a/3', fault);
      read.length = 0;
      await run(DAY);
      expect([read, await shown()]).toEqual([['a/3'], '1']);
    }
    faults.clear();
    await run(DAY);
    expect(await shown()).toBe('0');
  });

  it('ends when the service stops', async () => {
    const stopping = new AbortController();
    const { read, run } = checkOf({ whenRead: () => stopping.abort() });
    await run(NIGHT, stopping.signal);
    expect(read).toHaveLength(1);
  });

  it('ends when the storage is unavailable', async () => {
    const { faults, read, run } = checkOf({ tables: [...TABLES, ...TABLES] });
    for (const path of ALL) faults.set(path, 'unavailable');
    await expect(run()).rejects.toThrow('is unavailable.');
    expect(read).toHaveLength(10);
  });
});
