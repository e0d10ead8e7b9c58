import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ARCHIVING_SERVICES, SERVICE_NAMES, type ServiceName } from '@ecf/contracts';
import { type Database, openDatabase } from '@ecf/postgres';
import { type DeploymentProcess, embeddedDatabaseUrl } from '@ecf/test-servers/deployment';
import {
  forgetPeak,
  mainThreadSeconds,
  peakBytes,
  processorSeconds,
  processorSecondsOfTree,
} from '../harness/processes.js';

const QUIET_POLL_MS = 2_000;
const OTHERS = ['kafka', 'redis', 'postgresql', 'authority-simulator'];

/** Seconds of processor time since the start of each process, and bytes of WAL. */
export interface Spent {
  /** By process: of all threads, and of the thread that runs JavaScript. */
  processes: Record<string, { all: number; main: number }>;
  /** Of PostgreSQL, by database; `server` is the work of no database. */
  postgres: Record<string, number>;
  wal: number;
  /** Of the whole machine, in seconds of one core; others use it too. */
  machine: number;
}

/** Bytes on disk: of tables with their indexes, of the files of topics, of the archive with its number of files. */
export interface Stored {
  tables: Record<string, number>;
  topics: Record<string, number>;
  archive: { bytes: number; objects: number };
}

/** Reads from outside what a distributed deployment uses. */
export class Probe {
  readonly #databases: Record<ServiceName, Database>;

  constructor(
    private readonly deployment: DeploymentProcess,
    private readonly dataDir: string,
  ) {
    const open = (name: ServiceName) => openDatabase(embeddedDatabaseUrl(dataDir, name), { max: 1 });
    this.#databases = Object.fromEntries(SERVICE_NAMES.map((name) => [name, open(name)])) as Record<
      ServiceName,
      Database
    >;
  }

  #processes(): { name: string; pid: number }[] {
    return this.deployment.processes().flatMap(({ name, pid }) => (pid === null ? [] : [{ name, pid }]));
  }

  async #rows<R extends object>(database: ServiceName, sql: string): Promise<R[]> {
    return (await this.#databases[database].query<R>(sql)).rows;
  }

  async spent(): Promise<Spent> {
    const processes = this.#processes().map(({ name, pid }) => {
      const all = OTHERS.includes(name) ? processorSecondsOfTree(pid) : processorSeconds(pid);
      return [name, { all, main: mainThreadSeconds(pid) }] as const;
    });
    const sessions = await this.#sessions();
    const postgres: Record<string, number> = { server: Object.fromEntries(processes).postgresql?.all ?? Number.NaN };
    for (const { database, pid } of sessions) {
      const seconds = processorSeconds(pid);
      if (Number.isNaN(seconds)) continue;
      postgres[database] = (postgres[database] ?? 0) + seconds;
      postgres.server = (postgres.server as number) - seconds;
    }
    const [wal] = await this.#rows<{ bytes: number }>(
      'emission',
      "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0')::float8 AS bytes",
    );
    return {
      processes: Object.fromEntries(processes),
      postgres,
      wal: wal?.bytes ?? Number.NaN,
      machine: busySeconds(),
    };
  }

  /** Most connections that the services have to each database. */
  async connections(): Promise<Record<string, number>> {
    const counts: Record<string, number> = {};
    for (const { database } of await this.#sessions()) counts[database] = (counts[database] ?? 0) + 1;
    // One of each is ours.
    return Object.fromEntries(Object.entries(counts).map(([database, count]) => [database, count - 1]));
  }

  #sessions(): Promise<{ database: string; pid: number }[]> {
    return this.#rows(
      'emission',
      "SELECT substr(datname, 5) AS database, pid FROM pg_stat_activity WHERE datname LIKE 'ecf_%' AND backend_type = 'client backend'",
    );
  }

  /** Rewrites the tables first, so that rows which the load changed several times count once. */
  async stored(): Promise<Stored> {
    const tables: Record<string, number> = {};
    for (const name of SERVICE_NAMES) {
      await this.#databases[name].query('VACUUM FULL');
      const rows = await this.#rows<{ table: string; bytes: number }>(
        name,
        "SELECT relname AS table, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace",
      );
      for (const { table, bytes } of rows) {
        // Each month has its own partition.
        const key = `${name}.${table.replace(/_(\d{4}_\d\d|default)$/, '')}`;
        tables[key] = (tables[key] ?? 0) + bytes;
      }
    }
    return {
      tables,
      topics: topicBytes(path.join(this.dataDir, 'kafka')),
      archive: filesIn(path.join(this.dataDir, 'xml')),
    };
  }

  /**
   * Resolves when nothing waits: documents, queries, events, sends, files for the archive. It reads the metrics only once the tables
   * are empty, because each process works for them.
   */
  async quiet(metricsUrl: string): Promise<void> {
    while ((await this.#openRows()) > 0 || (await lagOf(metricsUrl)) !== 0) await delay(QUIET_POLL_MS);
  }

  async #openRows(): Promise<number> {
    const tables: [ServiceName, string][] = [
      ['status-poller', 'poll'],
      ['approvals', "outgoing_documents WHERE status = 'pending'"],
      ...SERVICE_NAMES.filter((name) => name !== 'query').map((name): [ServiceName, string] => [name, 'outbox']),
      ...ARCHIVING_SERVICES.map((name): [ServiceName, string] => [name, 'pending_document']),
    ];
    let open = 0;
    for (const [database, table] of tables) {
      const [row] = await this.#rows<{ count: number }>(database, `SELECT count(*)::int AS count FROM ${table}`);
      open += row?.count ?? 0;
    }
    return open;
  }

  /** Milliseconds of one draw of an automatic number, with its commit; draws of one range wait for each other. */
  async drawMs(draws: number): Promise<number> {
    const ranges = JSON.stringify([{ first_number: 1, last_number: 9_000_000 }]);
    const began = performance.now();
    for (let n = 0; n < draws; n += 1)
      await this.#databases.emission.query(
        "SELECT draw_number('bench', 'TesteCF', '199999991', '33', $1, gen_random_uuid(), 10000, $2::json)",
        [`draw ${n}`, ranges],
      );
    return (performance.now() - began) / draws;
  }

  forgetPeaks(): void {
    for (const { pid } of this.#processes()) forgetPeak(pid);
  }

  /** The largest resident set of each process since {@link forgetPeaks}, in bytes. */
  peaks(): Record<string, number> {
    return Object.fromEntries(this.#processes().map(({ name, pid }) => [name, peakBytes(pid)]));
  }

  async close(): Promise<void> {
    for (const database of Object.values(this.#databases)) await database.close();
  }
}

/** Events that consumers have not handled. */
async function lagOf(metricsUrl: string): Promise<number> {
  const metrics = await (await fetch(metricsUrl)).text();
  const lags = [...metrics.matchAll(/^ecf_consumer_lag\{.*\} (-?\d+)$/gm)].map(([, lag]) => Math.max(0, Number(lag)));
  return lags.reduce((sum, lag) => sum + lag, 0);
}

function busySeconds(): number {
  const [, user, nice, system, , , irq, soft, steal] = (
    fs.readFileSync('/proc/stat', 'utf8').split('\n')[0] ?? ''
  ).split(/\s+/);
  return [user, nice, system, irq, soft, steal].reduce((sum, ticks) => sum + Number(ticks) / 100, 0);
}

function topicBytes(folder: string): Record<string, number> {
  const bytes: Record<string, number> = {};
  for (const file of fs.readdirSync(folder, { recursive: true }) as string[]) {
    const topic = /([a-z-]+\.v1)-\d+\/\d+\.log$/.exec(file)?.[1];
    if (topic !== undefined) bytes[topic] = (bytes[topic] ?? 0) + fs.statSync(path.join(folder, file)).size;
  }
  return bytes;
}

function filesIn(folder: string): { bytes: number; objects: number } {
  const sizes = (fs.readdirSync(folder, { recursive: true }) as string[])
    .map((file) => fs.statSync(path.join(folder, file)))
    .filter((stat) => stat.isFile())
    .map((stat) => stat.size);
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), objects: sizes.length };
}
