import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '@ecf/deployment/postgres';
import { openDatabase } from '@ecf/postgres';
import { until } from '../until.js';

const SETTINGS = { max_connections: '150', max_wal_size: '256MB', synchronous_commit: 'on' };

/** A PostgreSQL server of a test that a streaming replica can replace. */
export class ReplicatedPostgres {
  #copies = 0;

  private constructor(
    private readonly folder: string,
    private primary: EmbeddedPostgres,
    private replica: EmbeddedPostgres | null = null,
  ) {}

  /** @param folder an existing folder for the files of all its servers */
  static async start(folder: string): Promise<ReplicatedPostgres> {
    const server = await startEmbeddedPostgres({ dataDir: `${folder}/0`, durable: false, settings: SETTINGS });
    return new ReplicatedPostgres(folder, server);
  }

  get port(): number {
    return this.primary.port;
  }

  /** The address of a database of the present primary. */
  url(database: string): string {
    return this.primary.url(database);
  }

  /** Adds a replica, made from a copy of the stopped primary. With `synchronous`, each commit waits for it. */
  async replicate({ synchronous }: { synchronous: boolean }): Promise<void> {
    const { port } = this.primary;
    const from = path.join(this.folder, String(this.#copies));
    this.#copies += 1;
    const to = path.join(this.folder, String(this.#copies));
    await this.primary.stop();
    execFileSync('cp', ['-a', from, to]);
    fs.copyFileSync(`${from}.password`, `${to}.password`);
    const signal = path.join(to, 'standby.signal');
    fs.writeFileSync(signal, '');
    const { uid, gid } = fs.statSync(to);
    fs.chownSync(signal, uid, gid);
    const password = fs.readFileSync(`${to}.password`, 'utf8').trim();
    const source = `host=127.0.0.1 port=${port} user=ecf password=${password}`;
    fs.appendFileSync(path.join(to, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);
    const settings = { ...SETTINGS, ...(synchronous ? { synchronous_standby_names: '*' } : {}) };
    const start = (dataDir: string, port: number, chosen = SETTINGS) =>
      startEmbeddedPostgres({ dataDir, port, durable: false, settings: chosen });
    [this.primary, this.replica] = await Promise.all([start(from, port, settings), start(to, 0)]);
    await until(
      () => count(this.primary, 'pg_stat_replication'),
      (replicas) => replicas === 1,
    );
  }

  /** From now on the replica receives no commits. */
  async disconnectReplica(): Promise<void> {
    const replica = this.replica as EmbeddedPostgres;
    await run(replica, "ALTER SYSTEM SET primary_conninfo = ''");
    await run(replica, 'SELECT pg_reload_conf()');
    await until(
      () => count(replica, 'pg_stat_wal_receiver'),
      (receivers) => receivers === 0,
    );
  }

  /** Kills the primary; the replica takes its place, on another port. */
  async failOver(): Promise<void> {
    process.kill(this.primary.pid, 'SIGKILL');
    await this.primary.died;
    this.primary = this.replica as EmbeddedPostgres;
    this.replica = null;
    const promoted = this.primary;
    await run(promoted, 'SELECT pg_promote(false)');
    const writable = () => run<{ waits: boolean }>(promoted, 'SELECT pg_is_in_recovery() AS waits');
    await until(writable, ([row]) => row?.waits === false);
  }

  async stop(): Promise<void> {
    await this.replica?.stop();
    await this.primary.stop();
  }
}

async function run<T extends object>(server: EmbeddedPostgres, sql: string): Promise<T[]> {
  const database = openDatabase(server.url('postgres'), { max: 1 });
  try {
    return (await database.query<T>(sql)).rows;
  } finally {
    await database.close();
  }
}

const count = async (server: EmbeddedPostgres, view: string) =>
  (await run<{ count: number }>(server, `SELECT count(*)::int AS count FROM ${view}`))[0]?.count;
