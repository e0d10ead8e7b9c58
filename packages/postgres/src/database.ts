import { identifierOf } from '@ecf/contracts';
import pg from 'pg';
import { isDatabaseUnavailable, markDatabaseError, sqlState } from './database-errors.js';
import { createStorageCheck, type StorageCheck } from './storage-check.js';

/** A prepared statement: parsed once per connection under its name. The same name must always carry the same text. */
export interface Statement {
  readonly name: string;
  readonly text: string;
}

export interface Rows<R> {
  readonly rows: R[];
  /** Rows returned or affected. */
  readonly rowCount: number;
}

/** Runs SQL: the database itself, or a transaction. */
export interface Queries {
  /**
   * int8 arrives as number (an error beyond 2^53), numeric and date as text, timestamptz as Date, json parsed.
   * `sql` is text or a named {@link Statement}; `name` may also be given apart.
   */
  query<R = Record<string, unknown>>(sql: string | Statement, params?: readonly unknown[]): Promise<Rows<R>>;
}

/** Queries inside one transaction. */
export interface Transaction extends Queries {
  /** Runs once the commit is confirmed; never after a rollback. Errors of `effect` are thrown to the caller of `transaction`. */
  afterCommit(effect: () => void): void;
  /** The database this transaction belongs to. */
  readonly database: Database;
}

export interface TransactionOptions {
  /** Absent = that of the database, read committed. */
  isolation?: 'repeatable read';
}

/** Times that a deadlock (40P01) or serialisation failure (40001) is tried again. */
const RETRIES = 3;

export interface Database extends Queries {
  /** Commits what `work` did, or rolls all of it back where it throws. `work` runs again after a deadlock. */
  transaction<T>(work: (tx: Transaction) => Promise<T>, options?: TransactionOptions): Promise<T>;
  /** Announces within this process that rows were appended to the outbox; the relay listens. */
  signalOutbox(): void;
  /** Calls back at every {@link Database.signalOutbox}. Returns the function that ends this. */
  onOutbox(listener: () => void): () => void;
  /** Calls back after each committed write of this process. Returns the function that ends this. */
  onWrite(listener: () => void): () => void;
  /**
   * Resolves unless the disk of the database is full. It is not known to be full before a statement has failed; from then on each
   * call tries to write. Rejects with the error of the database.
   */
  checkStorage(): Promise<void>;
  /** The connection string, for separate connections (LISTEN, advisory locks). */
  readonly url: string;
  /** The pool beneath, for metrics. */
  readonly pool: pg.Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** Connections at most; default 10. */
  max?: number;
  /** Milliseconds to wait for a connection; default 5000. */
  connectTimeoutMs?: number;
  /** Milliseconds after which PostgreSQL cancels a statement; default 30000. */
  statementTimeoutMs?: number;
  /** Settings of the sessions, e.g. `{ synchronous_commit: 'off' }`. */
  settings?: Readonly<Record<string, string>>;
  /** Shown in pg_stat_activity. */
  applicationName?: string;
  /** Called when an idle connection broke. The pool replaces it. */
  onIdleError?: (error: Error) => void;
}

/** The name of a service's database on a server that has only those of one deployment. */
export function databaseName(service: string): string {
  return `ecf_${identifierOf(service)}`;
}

/** The database of a service on a shared server: the name in the address, `ecf` by default, with the service's behind it. */
export function serviceDatabaseUrl(server: string, service: string): string {
  const url = new URL(server);
  url.pathname = `${url.pathname.replace(/^\/?$/, '/ecf')}_${identifierOf(service)}`;
  return url.href;
}

const INT8 = 20;
const DATE = 1082;

function safeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value))
    throw new RangeError(`the database has the number ${text}, which is too large for this program`);
  return value;
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary' && oid === INT8) return safeInteger;
    if (format !== 'binary' && oid === DATE) return (text: string) => text;
    return pg.types.getTypeParser(oid, format as 'text');
  }) as pg.CustomTypesConfig['getTypeParser'],
};

/** Opens a pool of connections to one database. The first query opens the first connection. */
export function openDatabase(url: string, options: DatabaseOptions = {}): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 10,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 5_000,
    idleTimeoutMillis: 60_000,
    statement_timeout: options.statementTimeoutMs ?? 30_000,
    // A server that hangs cancels nothing, so the client has its own timeout.
    query_timeout: (options.statementTimeoutMs ?? 30_000) + 5_000,
    keepAlive: true,
    types,
    ...(options.settings === undefined ? {} : { options: sessionOptions(options.settings) }),
    ...(options.applicationName === undefined ? {} : { application_name: options.applicationName }),
  });
  pool.on('error', (error) => options.onIdleError?.(error));
  // A connection that breaks while in use reports it twice: to the query, and as an event. It may break before its user gets it.
  pool.on('connect', (client) => client.on('error', noted));
  const storage = createStorageCheck(pool);
  const listeners = new Set<() => void>();
  const writeListeners = new Set<() => void>();
  const wrote = () => {
    for (const listener of writeListeners) listener();
  };

  const database: Database = {
    url,
    pool,
    query: (sql, params) => run({ pool, storage, wrote }, pool, sql, params),
    checkStorage: storage.check,
    async transaction(work, transactionOptions = {}) {
      for (let retriesLeft = RETRIES; ; retriesLeft -= 1) {
        try {
          return await attempt({ database, storage, wrote }, work, transactionOptions);
        } catch (error) {
          const state = sqlState(error);
          if (retriesLeft <= 0 || (state !== '40001' && state !== '40P01')) throw error;
        }
      }
    },
    signalOutbox() {
      for (const listener of listeners) listener();
    },
    onOutbox(listener) {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    onWrite(listener) {
      writeListeners.add(listener);
      return () => {
        writeListeners.delete(listener);
      };
    },
    close: () => pool.end(),
  };
  return database;
}

function sessionOptions(settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(' ');
}

async function run<R>(
  { pool, storage, wrote }: { pool: pg.Pool; storage: StorageCheck; wrote: () => void },
  runner: pg.Pool | pg.PoolClient,
  sql: string | Statement,
  params?: readonly unknown[],
): Promise<Rows<R>> {
  try {
    const result = await runner.query(sql, params as unknown[] | undefined);
    if (mayHaveWritten(sql, result)) wrote();
    return { rows: result.rows as R[], rowCount: result.rowCount ?? 0 };
  } catch (error) {
    markDatabaseError(error, () => pool.query('SELECT 1'));
    storage.note(error);
    throw error;
  }
}

/** A SELECT writes only in its WITH part. */
function mayHaveWritten(sql: string | Statement, { command, rowCount }: pg.QueryResult): boolean {
  if ((rowCount ?? 0) === 0) return false;
  return command !== 'SELECT' || /^\s*WITH\b/i.test(typeof sql === 'string' ? sql : sql.text);
}

async function attempt<T>(
  { database, storage, wrote }: { database: Database; storage: StorageCheck; wrote: () => void },
  work: (tx: Transaction) => Promise<T>,
  options: TransactionOptions,
): Promise<T> {
  const { pool } = database;
  let written = false;
  const parts = {
    pool,
    storage,
    wrote: () => {
      written = true;
    },
  };
  const client = await connect(pool);
  const effects: (() => void)[] = [];
  const tx: Transaction = {
    database,
    query: (sql, params) => run(parts, client, sql, params),
    afterCommit: (effect) => effects.push(effect),
  };
  let broken: Error | boolean = false;
  let value: T;
  try {
    await run(parts, client, options.isolation === undefined ? 'BEGIN' : `BEGIN ISOLATION LEVEL ${options.isolation}`);
    value = await work(tx);
    await run(parts, client, 'COMMIT');
  } catch (error) {
    // The connection is closed: if it hangs, the ROLLBACK would hang just as long; if its server is read-only, it would
    // never reach the new server.
    if (isDatabaseUnavailable(error)) broken = true;
    else
      try {
        await run(parts, client, 'ROLLBACK');
      } catch (rollbackError) {
        broken = rollbackError as Error;
      }
    throw error;
  } finally {
    client.release(broken);
  }
  if (written) wrote();
  for (const effect of effects) effect();
  return value;
}

async function connect(pool: pg.Pool): Promise<pg.PoolClient> {
  try {
    return await pool.connect();
  } catch (error) {
    markDatabaseError(error);
    throw error;
  }
}

function noted(): void {}
