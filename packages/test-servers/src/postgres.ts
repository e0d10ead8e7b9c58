import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isAlive, startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { databaseName, migrate } from '@ecf/postgres';
import pg from 'pg';

export interface TestPostgres {
  /** A new database, empty or with the tables of a service; its connection string. */
  createDatabase(service?: string): Promise<string>;
  /** The number of the server process, to stop and continue it in tests of a lost database. */
  pid: number;
}

const SERVICES = fileURLToPath(new URL('../../../services', import.meta.url));

/** Stops the server and removes its folder after the end of the process that runs the tests, for any reason. */
const WATCH =
  'while kill -0 "$1" 2>/dev/null; do sleep 1; done; kill -INT "$2" 2>/dev/null; sleep 1; kill -QUIT "$2" 2>/dev/null; rm -rf "$3" "$4"';

/**
 * A PostgreSQL for tests: one server for each process that runs tests, shared by its test files, removed when that process
 * ends. It does not sync to disk.
 */
export async function startTestPostgres(): Promise<TestPostgres> {
  const { admin, pid } = await sharedServer();
  return {
    pid,
    async createDatabase(service) {
      const name = `test_${randomUUID().replaceAll('-', '')}`;
      const client = new pg.Client({ connectionString: admin });
      await client.connect();
      try {
        const template = service === undefined ? 'template1' : await templateOf(service, admin, client);
        await client.query(`CREATE DATABASE ${name} TEMPLATE ${template}`);
      } finally {
        await client.end();
      }
      return databaseUrl(admin, name);
    },
  };
}

/** The database from which those of a service are copied. The first call runs the migrations of the service in it. */
async function templateOf(service: string, admin: string, client: pg.Client): Promise<string> {
  const name = `template_${databaseName(service)}`;
  await client.query('SELECT pg_advisory_lock(hashtext($1))', [name]);
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (rowCount === 0) {
      await client.query(`CREATE DATABASE ${name}_new`);
      await migrate(databaseUrl(admin, `${name}_new`), path.join(SERVICES, service, 'prisma', 'migrations'));
      await client.query(`ALTER DATABASE ${name}_new RENAME TO ${name}`);
    }
  } finally {
    await client.query('SELECT pg_advisory_unlock(hashtext($1))', [name]);
  }
  return name;
}

function databaseUrl(admin: string, name: string): string {
  const url = new URL(admin);
  url.pathname = `/${name}`;
  return url.href;
}

interface Shared {
  admin: string;
  pid: number;
}

/** Test files have separate module instances in one process, so they share data in a file named by the process. */
async function sharedServer(): Promise<Shared> {
  const folder = path.join(os.tmpdir(), `ecf-test-postgres-${process.pid}`);
  const file = path.join(folder, 'server.json');
  try {
    mkdirSync(folder, { mode: 0o755 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const present = await readShared(file);
    if (present !== null) return present;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { mode: 0o755 });
  }
  const data = mkdtempSync(path.join(os.tmpdir(), 'ecf-test-data-'));
  chmodSync(data, 0o755);
  const server = await startEmbeddedPostgres({
    dataDir: path.join(data, 'cluster'),
    durable: false,
    settings: { max_connections: '300', max_wal_size: '256MB', autovacuum: 'off' },
  });
  const shared = { admin: server.url('postgres'), pid: server.pid };
  writeFileSync(file, JSON.stringify(shared));
  const watcher = spawn('sh', ['-c', WATCH, 'sh', String(process.pid), String(server.pid), data, folder], {
    detached: true,
    stdio: 'ignore',
  });
  watcher.unref();
  return shared;
}

async function readShared(file: string): Promise<Shared | null> {
  for (let waited = 0; waited < 20_000; waited += 50) {
    try {
      const shared = JSON.parse(readFileSync(file, 'utf8')) as Shared;
      return isAlive(shared.pid) ? shared : null;
    } catch {
      await delay(50);
    }
  }
  return null;
}
