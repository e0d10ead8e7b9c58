import { createHash } from 'node:crypto';
import {
  CamelCasePlugin,
  type DatabaseConnection,
  type Driver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import type { Queries, Statement } from './database.js';

/**
 * A query builder whose statements run in a database or in a transaction of it. `Tables` are the types that `npm run build`
 * generates from the Prisma schema of the service. Names are in camel case; keys inside JSON stay as they are. Each statement is
 * prepared once per connection, so pass lists as arrays (`= ANY`): then the number of different statements is small.
 */
export function queryBuilder<Tables>(queries: Queries): Kysely<Tables> {
  const connection: DatabaseConnection = {
    async executeQuery({ sql, parameters }) {
      const { rows, rowCount } = await queries.query(prepared(sql), parameters);
      return { rows: rows as never[], numAffectedRows: BigInt(rowCount) };
    },
    async *streamQuery() {
      yield refuse();
    },
  };
  const driver: Driver = {
    init: async () => undefined,
    acquireConnection: async () => connection,
    releaseConnection: async () => undefined,
    destroy: async () => undefined,
    beginTransaction: refuse,
    commitTransaction: refuse,
    rollbackTransaction: refuse,
  };
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => driver,
      createIntrospector: (db) => new PostgresIntrospector(db),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
}

const statements = new Map<string, Statement>();

function prepared(text: string): Statement {
  const known = statements.get(text);
  if (known !== undefined) return known;
  const statement = { name: `built_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`, text };
  statements.set(text, statement);
  return statement;
}

async function refuse(): Promise<never> {
  throw new Error('transactions begin with Database.transaction');
}

/** One of a list: `where('rnc', '=', anyOf(rncs))`. */
export function anyOf<T>(list: readonly T[]): RawBuilder<T> {
  return sql<T>`ANY(${[...list]})`;
}

/** A row whose JSON fits `json_populate_recordset`. */
export function snakeCaseRow(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([column, value]) => [snakeCase(column), value]));
}

/** Runs a statement in SQL. Its rows have names in camel case, as the query builder has them. */
export async function rowsOf<R>(
  queries: Queries,
  sql: string | Statement,
  values: readonly unknown[] = [],
): Promise<R[]> {
  return camelCaseRows<R>((await queries.query<object>(sql, values)).rows);
}

/** Rows of a statement in SQL, with names in camel case as the query builder has them. */
export function camelCaseRows<R>(rows: readonly object[]): R[] {
  const names = Object.keys(rows[0] ?? {}).map((column) => [column, camelCase(column)] as const);
  return rows.map(
    (row) => Object.fromEntries(names.map(([column, name]) => [name, row[column as keyof typeof row]])) as R,
  );
}

/** The name of a column in SQL. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
