import { createHash } from 'node:crypto';
import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createMetrics } from '@ecf/kit/telemetry';
import { type Database, openDatabase } from '@ecf/postgres';
import { startTestPostgres } from '@ecf/test-servers/postgres';
import { until } from '@ecf/test-support/until';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Archiver, createArchiver } from '../src/archiver.js';
import { addPendingDocuments, documentsOf, ownDocuments, storedBytes } from '../src/pending-documents.js';
import { createStoredFiles } from '../src/stored-files.js';
import { openFileXmlStore } from '../src/xml-store.files.js';
import { type XmlStore, XmlStoreError } from '../src/xml-store.js';

const TABLES = `
  CREATE TABLE pending_document (path text, sha256 text, bytes bytea NOT NULL, created_at timestamptz(3) DEFAULT now(),
    due_at timestamptz(3) DEFAULT now(), failures int DEFAULT 0, PRIMARY KEY (path, sha256));
  CREATE TABLE archive_size (bytes bigint);
  INSERT INTO archive_size VALUES (0);
  CREATE TABLE document (id bigint PRIMARY KEY, xml_path text, xml_sha256 text)`;

let database: Database;
let root: string;
let store: XmlStore;
let sequence = 0;
const running: Archiver[] = [];
const logged: { level: string; path?: string }[] = [];
const note = (level: string) => (line: { path?: string }) => void logged.push({ level, ...line });
const logger = { info: note('info'), warn: note('warn'), error: note('error') } as never;

beforeAll(async () => {
  database = openDatabase(await (await startTestPostgres()).createDatabase());
  for (const statement of TABLES.split(';')) await database.query(statement);
  root = mkdtempSync(path.join(os.tmpdir(), 'ecf-archiver-'));
  store = await openFileXmlStore(path.join(root, 'xml'));
});
afterEach(async () => {
  for (const archiver of running.splice(0)) await archiver.stop();
  await database.query('DELETE FROM pending_document');
});
afterAll(async () => {
  await database.close();
  rmSync(root, { recursive: true, force: true });
});

function document(text = `<ECF>${++sequence}</ECF>`, name = `a/${++sequence}.xml`) {
  const bytes = Buffer.from(text);
  return { path: name, sha256: createHash('sha256').update(bytes).digest('hex'), bytes };
}

function start(archive: Pick<XmlStore, 'put' | 'get'> = store, options: { leaseMs?: number } = {}) {
  const metrics = createMetrics();
  const timing = { idleMs: 10, firstRetryMs: 20, ...options };
  const archiver = createArchiver({ database, archive, service: 'test', logger, metrics, ...timing });
  archiver.start();
  running.push(archiver);
  return { archiver, metrics };
}

async function pending(): Promise<number> {
  return (await database.query('SELECT 1 FROM pending_document')).rowCount;
}

const allArchived = () => until(async () => (await pending()) === 0);

describe('the archiver', () => {
  it('moves documents to the archive and then deletes their rows', async () => {
    const documents = Array.from({ length: 100 }, () => document());
    await addPendingDocuments(database, documents);
    start();
    await allArchived();
    for (const each of documents) expect(await store.get(each.path, each.sha256)).toEqual(each.bytes);
  });

  it('stores the same document once, and stores none of a transaction that is rolled back', async () => {
    const each = document();
    await addPendingDocuments(database, [each]);
    await addPendingDocuments(database, [each]);
    const work = database.transaction(async (tx) => {
      await addPendingDocuments(tx, [document()]);
      throw new Error('no');
    });
    await expect(work).rejects.toThrow('no');
    expect(await pending()).toBe(1);
  });

  it('repeats a write that a crash ended before the archive had the document', async () => {
    const each = document();
    await addPendingDocuments(database, [each]);
    let end = () => {};
    const never = new Promise<never>((_, reject) => {
      end = () => reject(new Error('killed'));
    });
    const archiver = createArchiver({
      database,
      archive: { ...store, put: () => never },
      service: 'test',
      logger,
      metrics: createMetrics(),
      leaseMs: 300,
      idleMs: 10,
    });
    // It never ends, like a process killed with its claim.
    archiver.start();
    await until(
      async () => (await database.query('SELECT 1 FROM pending_document WHERE due_at > now()')).rowCount === 1,
    );
    start();
    await allArchived();
    expect(await store.get(each.path, each.sha256)).toEqual(each.bytes);
    end();
    await archiver.stop();
  });

  it('repeats a write that a crash ended before the row was deleted: the same object is success', async () => {
    const each = document();
    await store.put(each.path, each.bytes);
    await addPendingDocuments(database, [each]);
    start();
    await allArchived();
    expect(await store.get(each.path, each.sha256)).toEqual(each.bytes);
  });

  it('shares the work with another archiver', async () => {
    const put = new Map<string, number>();
    const counting = {
      ...store,
      async put(name: string, bytes: Uint8Array) {
        put.set(name, (put.get(name) ?? 0) + 1);
        return store.put(name, bytes);
      },
    };
    const documents = Array.from({ length: 100 }, () => document());
    await addPendingDocuments(database, documents);
    start(counting);
    start(counting);
    await allArchived();
    expect([...put.values()]).toEqual(documents.map(() => 1));
  });

  it('keeps documents while the archive is down and stores them once it is back', async () => {
    const documents = [document(), document()];
    renameSync(path.join(root, 'xml'), path.join(root, 'away'));
    const fs = path.join(root, 'xml');
    // A file cannot contain a folder, so the write fails.
    const blocked = { ...store, put: async () => Promise.reject(new XmlStoreError('unavailable', 'away')) };
    let archive: Pick<XmlStore, 'put' | 'get'> = blocked;
    const { metrics } = start({
      put: (...args) => archive.put(...args),
      get: (...args) => archive.get(...args),
    });
    await addPendingDocuments(database, documents);
    const failures = /ecf_archive_failures_total\{service="test",reason="unavailable"\} ([4-9]|\d\d)/;
    await until(async () => failures.test(await metrics.render()));
    const text = await metrics.render();
    expect(text).toContain('ecf_archive_pending_documents{service="test"} 2');
    const bytes = await storedBytes(database);
    expect(text).toMatch(/ecf_archive_oldest_pending_seconds\{service="test"\} 0\.\d+/);
    const reader = ownDocuments(database, store);
    for (const each of documents) expect(await reader.get(each.path, each.sha256)).toEqual(each.bytes);
    renameSync(path.join(root, 'away'), fs);
    archive = store;
    await allArchived();
    expect(await metrics.render()).toContain('ecf_archive_pending_documents{service="test"} 0');
    // Moving documents to the archive changes their place, not their number of bytes.
    expect([await storedBytes(database), bytes >= documents.length]).toEqual([bytes, true]);
  });

  it('raises an alarm if the archive has other bytes under the path, and keeps the row', async () => {
    const each = document();
    const other = document('<ECF>other</ECF>');
    await store.put(each.path, other.bytes);
    await addPendingDocuments(database, [each, document()]);
    const { metrics } = start();
    const conflicts = /ecf_archive_failures_total\{service="test",reason="conflict"\} [1-9]/;
    await until(async () => conflicts.test(await metrics.render()));
    await until(async () => (await pending()) === 1);
    expect(logged).toContainEqual(expect.objectContaining({ level: 'error', path: each.path }));
    expect(await ownDocuments(database, store).get(each.path, each.sha256)).toEqual(each.bytes);
    expect(await store.get(each.path, other.sha256)).toEqual(other.bytes);
  });

  it('keeps the row if the archive returns other bytes than it was given', async () => {
    const each = document();
    await addPendingDocuments(database, [each]);
    const { metrics } = start({
      put: async () => ({ checksum: each.sha256 }),
      get: async (name) => Promise.reject(new XmlStoreError('altered', name)),
    });
    await until(async () => /reason="conflict"\} [1-9]/.test(await metrics.render()));
    expect(await pending()).toBe(1);
  });
});

describe('documents of another service', () => {
  const files = () =>
    createStoredFiles(database, [{ table: 'document', key: ['id'], files: [['xml_path', 'xml_sha256']] }]);

  it('are read from the archive, and from their owner while they wait for it', async () => {
    const [archived, waiting] = [document(), document()];
    await store.put(archived.path, archived.bytes);
    await addPendingDocuments(database, [waiting]);
    const reader = documentsOf(files(), store);
    for (const each of [archived, waiting]) expect(await reader.get(each.path, each.sha256)).toEqual(each.bytes);
    await expect(reader.get('a/none.xml', waiting.sha256)).rejects.toMatchObject({ code: 'missing' });
    const gone = { get: () => Promise.reject(new XmlStoreError('unavailable', 'away')) };
    expect(await documentsOf(files(), gone).get(waiting.path, waiting.sha256)).toEqual(waiting.bytes);
    await expect(documentsOf(files(), gone).get(archived.path, archived.sha256)).rejects.toMatchObject({
      code: 'unavailable',
    });
  });

  it('are listed with a mark while they wait for the archive', async () => {
    const [archived, waiting] = [document(), document()];
    await addPendingDocuments(database, [waiting]);
    for (const [id, { path: name, sha256 }] of [archived, waiting].entries())
      await database.query('INSERT INTO document VALUES ($1, $2, $3)', [id + 1, name, sha256]);
    const { files: listed } = await files().pageOfStoredFiles({ limit: 10 });
    expect(listed.map(({ path: name, pending: waits }) => [name, waits])).toEqual([
      [archived.path, false],
      [waiting.path, true],
    ]);
  });
});
