import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { isDatabaseUnavailable, openDatabase } from '@ecf/postgres';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { startEmbeddedPostgres } from '../src/postgres/embedded-postgres.js';
import { findPostgresBinaries } from '../src/postgres/postgres-binaries.js';
import { socketFolder } from '../src/postgres/postgres-socket.js';
import { postgresUser } from '../src/postgres/postgres-user.js';
import { isAlive } from '../src/postgres/postmaster.js';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'ecf-embedded-'));
  chmodSync(folder, 0o755);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function query(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return Object.values((await client.query(sql)).rows[0] ?? {})[0];
  } finally {
    await client.end();
  }
}

describe('an embedded PostgreSQL', () => {
  it('creates its cluster, keeps its data over a restart, and replaces an orphaned server', async () => {
    const options = { dataDir: path.join(folder, 'cluster'), durable: false };
    const first = await startEmbeddedPostgres(options);
    await query(first.url('postgres'), 'CREATE TABLE kept AS SELECT 42 AS answer');
    await first.stop();
    expect(isAlive(first.pid)).toBe(false);

    const orphan = await startEmbeddedPostgres(options);
    const second = await startEmbeddedPostgres(options);
    expect(isAlive(orphan.pid)).toBe(false);
    expect(second.pid).not.toBe(orphan.pid);
    expect(await query(second.url('postgres'), 'SELECT answer FROM kept')).toBe(42);
    expect(await query(second.localUrl('postgres'), 'SELECT inet_client_addr()')).toBe(
      process.platform === 'win32' ? '127.0.0.1' : null,
    );
    await second.stop();

    const database = openDatabase(second.localUrl('postgres'));
    const refused = await database.query('SELECT 1').catch((error) => error);
    expect(isDatabaseUnavailable(refused)).toBe(true);
    await database.close();
  });

  it('keeps ten log files of some 10 MB that only their owner can read, with the newest line', async () => {
    const options = { dataDir: path.join(folder, 'logged'), durable: false };
    const logs = path.join(options.dataDir, 'log');
    writeFileSync(`${options.dataDir}.log`, 'written by an earlier version\n', { mode: 0o644 });
    const first = await startEmbeddedPostgres(options);
    await first.stop();
    for (let n = 10; n < 22; n += 1)
      writeFileSync(path.join(logs, `postgres-20260101-0000${n}.log`), 'old', { mode: 0o600 });
    const server = await startEmbeddedPostgres(options);
    await query(
      server.url('postgres'),
      `DO $$ BEGIN FOR n IN 1..12 LOOP RAISE LOG '%', repeat('x', 1000000); END LOOP; PERFORM pg_sleep(1.1);
         FOR n IN 1..12 LOOP RAISE LOG '%', repeat('x', 1000000); END LOOP; RAISE LOG 'the last line'; END $$`,
    );
    await server.stop();
    const last = await startEmbeddedPostgres(options);
    await last.stop();
    const files = readdirSync(logs).map((name) => path.join(logs, name));
    // The last start may have made its file after the oldest were deleted.
    expect(files.length).toBeLessThanOrEqual(11);
    expect([files.some((file) => file.includes('000010')), files.some((file) => file.includes('000021'))]).toEqual([
      false,
      true,
    ]);
    const text = files.map((file) => readFileSync(file, 'utf8')).join('');
    expect(text).toContain('the last line');
    for (const file of [...files, `${options.dataDir}.log`])
      expect([file, (statSync(file).mode & 0o777).toString(8), statSync(file).size < 20_000_000]).toEqual([
        file,
        '600',
        true,
      ]);
    expect((statSync(logs).mode & 0o777).toString(8)).toBe('700');
  });

  it('has its socket in its folder, and none if the path is too long or PostgreSQL would split it', () => {
    expect(socketFolder('/data/postgres', 'linux')).toBe('/data/postgres');
    expect(socketFolder(`/${'d'.repeat(90)}`, 'linux')).toBeNull();
    expect(socketFolder('/data,more/postgres', 'linux')).toBeNull();
    expect(socketFolder('C:\\data\\postgres', 'win32')).toBeNull();
  });

  it('reports an unexpected end of the server, and starts again after a crash', async () => {
    const options = { dataDir: path.join(folder, 'crashed'), durable: false };
    const server = await startEmbeddedPostgres(options);
    process.kill(server.pid, 'SIGQUIT');
    expect(await server.died).toContain('ended with');
    // The lock of a killed server; any process may have its process id now.
    const lock = path.join(options.dataDir, '.s.PGSQL.1.lock');
    writeFileSync(lock, `${process.pid}\n`);
    const again = await startEmbeddedPostgres(options);
    expect(await query(again.url('postgres'), 'SELECT 1 AS one')).toBe(1);
    expect(existsSync(lock)).toBe(false);
    await again.stop();
  });

  it('refuses a cluster that another running process uses, naming it', async () => {
    const dataDir = path.join(folder, 'taken');
    const other = spawn('sleep', ['60'], { stdio: 'ignore' });
    const started = readFileSync(`/proc/${other.pid}/stat`, 'utf8').split(') ')[1]?.split(' ')[19];
    writeFileSync(`${dataDir}.owner`, `${other.pid} ${started}\n`);
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toThrow(`in use by the running process ${other.pid}`);
    other.kill();
  });

  const itAsRoot = process.getuid?.() === 0 ? it : it.skip;
  itAsRoot(
    'as root, runs in a folder that is closed to others; where it cannot, names that and the remedy',
    async () => {
      const closed = path.join(folder, 'closed');
      mkdirSync(closed, { mode: 0o700 });
      const dataDir = path.join(closed, 'cluster');
      for (const round of ['made', 'started again']) {
        const server = await startEmbeddedPostgres({ dataDir, durable: false });
        expect([round, await query(server.localUrl('postgres'), 'SELECT 1 AS one')]).toEqual([round, 1]);
        expect(statSync(`/proc/${server.pid}`).uid).not.toBe(0);
        await server.stop();
        expect(isAlive(server.pid)).toBe(false);
      }
      const { postgres } = findPostgresBinaries();
      expect(() => postgresUser(dataDir, postgres, () => null)).toThrow(`chmod o+x ${closed}`);
    },
  );
});
