import { spawn } from 'node:child_process';
import { chmodSync, closeSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { EmbeddedPostgresError, findPostgresBinaries } from './postgres-binaries.js';
import { claimCluster, clusterPassword, makeCluster, postgresEnvironment, USER } from './postgres-cluster.js';
import { removeOldSockets, socketFolder } from './postgres-socket.js';
import { type PostgresUser, postgresUser } from './postgres-user.js';
import { isAlive, isPostgres, readPostmasterFile, stopPostmaster } from './postmaster.js';
import { keepNewestLogs, LOG_SETTINGS, lastWords, openBeginning } from './server-log.js';
import { stablePorts } from './stable-ports.js';

export { EmbeddedPostgresError } from './postgres-binaries.js';
export { stablePorts } from './stable-ports.js';

export interface EmbeddedPostgresOptions {
  /** Folder of the cluster, with the server's logs in `log`; beside it are `<dataDir>.log` (the beginning of each start), `<dataDir>.password` and `<dataDir>.owner`. */
  dataDir: string;
  /** 0 or absent takes any free port. */
  port?: number;
  /** Settings of postgresql.conf, e.g. `{ max_connections: '200' }`. */
  settings?: Readonly<Record<string, string>>;
  /** False for throw-away clusters: no fsync anywhere. Default true. */
  durable?: boolean;
  /** Called with a sentence for each event (a cluster created, an orphan replaced). */
  say?: (text: string) => void;
}

export interface EmbeddedPostgres {
  port: number;
  pid: number;
  /** Connection string of a database of this server, as superuser `ecf`. */
  url(database: string): string;
  /** The same through the server's Unix socket, which costs less; through 127.0.0.1 if there can be none. */
  localUrl(database: string): string;
  /** Fast shutdown: sessions end, all data are written. Resolves when the server has ended. */
  stop(): Promise<void>;
  /** Resolves with a description if the server ends unexpectedly. */
  died: Promise<string>;
}

const START_MS = 60_000;

/**
 * Starts a real PostgreSQL in a folder, making the cluster on first use. A server left behind by a killed process is
 * stopped and replaced; one that a living process uses is an error. Works as root (the server runs as `nobody`) and as
 * any other user. It listens on 127.0.0.1 and on a socket in its folder only, with a password in a file of mode
 * 0600.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = path.resolve(options.dataDir);
  mkdirSync(path.dirname(dataDir), { recursive: true });
  const binaries = findPostgresBinaries();
  const user = postgresUser(dataDir, binaries.postgres);
  claimCluster(dataDir);
  await replaceOrphan(dataDir, options.say);
  const password = clusterPassword(dataDir);
  if (!existsSync(path.join(dataDir, 'PG_VERSION'))) {
    options.say?.('making a new database cluster');
    await makeCluster(dataDir, user, binaries.initdb, {
      user: USER,
      password,
      durable: options.durable ?? true,
    });
  }
  const port = options.port || ((await stablePorts(1))[0] as number);
  removeOldSockets(dataDir);
  const server = await launch(dataDir, user, binaries.postgres, port, options);
  const url = (database: string) => `postgresql://${USER}:${password}@127.0.0.1:${port}/${database}`;
  const folder = socketFolder(dataDir);
  return {
    port,
    pid: server.pid,
    died: server.died,
    url,
    localUrl: (database) => (folder === null ? url(database) : `${url(database)}?host=${encodeURIComponent(folder)}`),
    async stop() {
      server.expectEnd();
      await stopPostmaster(server.pid);
      rmSync(`${dataDir}.owner`, { force: true });
    },
  };
}

async function replaceOrphan(dataDir: string, say?: (text: string) => void): Promise<void> {
  const file = path.join(dataDir, 'postmaster.pid');
  const found = readPostmasterFile(dataDir);
  if (found === null) return;
  if (isAlive(found.pid) && isPostgres(found.pid)) {
    say?.(`stopping the database server that an earlier run left behind (process ${found.pid})`);
    await stopPostmaster(found.pid);
  }
  rmSync(file, { force: true });
}

const NOT_DURABLE = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off' };

interface Launched {
  pid: number;
  died: Promise<string>;
  expectEnd(): void;
}

async function launch(
  dataDir: string,
  user: PostgresUser,
  postgres: string,
  port: number,
  options: EmbeddedPostgresOptions,
): Promise<Launched> {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: socketFolder(dataDir) ?? '',
    // The folder lets in the server's user alone, and root.
    unix_socket_permissions: '0700',
    ...((options.durable ?? true) ? {} : NOT_DURABLE),
    ...LOG_SETTINGS,
    ...options.settings,
  };
  const args = [
    '-D',
    dataDir,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ];
  chmodSync(dataDir, 0o700);
  // A file, not a pipe: the server must survive its parent's death without losing its standard error.
  const log = openBeginning(dataDir);
  const command = user.command(postgres, args);
  const child = spawn(command.file, command.args, {
    ...command.options,
    cwd: dataDir,
    env: postgresEnvironment(dataDir),
    stdio: ['ignore', log, log],
    // Its own process group: Ctrl-C reaches the parent, which stops the database last.
    detached: true,
  });
  closeSync(log);
  child.unref();
  const stopKeeping = keepNewestLogs(dataDir);
  let expected = false;
  let ended: string | null = null;
  const died = new Promise<string>((resolve) => {
    const end = (how: string) => {
      ended = how;
      if (!expected) resolve(how);
    };
    child.on('error', (error) => end(error.message));
    child.on('exit', (code, signal) => {
      stopKeeping();
      end(`ended with ${signal ?? code}`);
    });
  });
  for (let waited = 0; !isReady(dataDir, child.pid); waited += 20) {
    if (ended !== null || waited > START_MS) {
      stopKeeping();
      throw new EmbeddedPostgresError(
        `PostgreSQL did not start (${ended ?? `not ready after ${START_MS} ms`}); its log ends:\n${lastWords(dataDir)}`,
      );
    }
    await delay(20);
  }
  return {
    pid: child.pid as number,
    died,
    expectEnd() {
      expected = true;
    },
  };
}

function isReady(dataDir: string, pid: number | undefined): boolean {
  const file = readPostmasterFile(dataDir);
  return file !== null && file.pid === pid && file.status === 'ready';
}
