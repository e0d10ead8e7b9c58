import type { Queries } from './database.js';

const DAY_MS = 24 * 3_600_000;

/** Rows of a table that are deleted when they are old enough. */
export interface Retention {
  readonly table: string;
  /** Time of a row. */
  readonly column: string;
  /** Column with an index that orders rows by time; default `column`. */
  readonly orderBy?: string;
  readonly keptMs: number;
  /** Further condition for rows that may be deleted. */
  readonly where?: string;
  /** Default 10,000. */
  readonly rowsPerStatement?: number;
}

/** Statements of a run; more rows wait for the next run. */
const STATEMENTS_PER_RUN = 500;

/**
 * Deletes rows that are older than `keptMs`. A run deletes at most the rows of one day, counted from the oldest row: if the
 * clock of the database is far ahead for a moment, a table loses its oldest day and is not emptied. With a run each hour
 * ({@link createCleaning}) a table with a backlog catches up 24 days a day. Returns the number of deleted rows.
 */
export async function deleteExpired(database: Queries, retention: Retention, now: Date): Promise<number> {
  const { table, column, orderBy = column, keptMs, where = 'true', rowsPerStatement = 10_000 } = retention;
  const oldest = `FROM ${table} WHERE ${where} ORDER BY ${orderBy}`;
  const { rows } = await database.query<{ at: Date }>(`SELECT ${column} AS at ${oldest} LIMIT 1`);
  const first = rows[0]?.at;
  if (first === undefined) return 0;
  const before = new Date(Math.min(now.getTime() - keptMs, first.getTime() + DAY_MS));
  let deleted = 0;
  for (let statement = 0; statement < STATEMENTS_PER_RUN; statement += 1) {
    const { rowCount } = await database.query(
      `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(
         SELECT place FROM (SELECT ctid AS place, ${column} AS at ${oldest} LIMIT $2) AS oldest WHERE at < $1))`,
      [before, rowsPerStatement],
    );
    deleted += rowCount;
    if (rowCount < rowsPerStatement) break;
  }
  return deleted;
}

/** The longest pause that due times in a column may have; leases are shorter. */
export interface DueTimes {
  readonly table: string;
  readonly column: string;
  readonly longestMs: number;
  /** The rows; default all. */
  readonly where?: string;
  /** False if no work is due at these times. Otherwise an index begins with the column. */
  readonly wakes?: false;
}

/** Milliseconds until the earliest due time, negative if it has passed; null if there are none. */
export async function msUntilDue(database: Queries, columns: readonly DueTimes[]): Promise<number | null> {
  const work = columns.filter(({ wakes }) => wakes !== false);
  if (work.length === 0) return null;
  const earliest = new Set(work.map(({ table, column }) => `(SELECT min(${column}) FROM ${table})`));
  const text = `SELECT (extract(epoch FROM least(${[...earliest].join(', ')}) - clock_timestamp()) * 1000)::float8 AS ms`;
  const { rows } = await database.query<{ ms: number | null }>({ name: 'ms_until_due', text });
  return rows[0]?.ms ?? null;
}

/** Brings due times that are further ahead than the longest pause back to it. Returns how many. */
export async function limitDueTimes(database: Queries, columns: readonly DueTimes[]): Promise<number> {
  let limited = 0;
  for (const { table, column, longestMs, where = 'true' } of columns) {
    const latest = `now() + $1 * interval '1 millisecond'`;
    const sql = `UPDATE ${table} SET ${column} = ${latest} WHERE ${column} > ${latest} AND ${where}`;
    limited += (await database.query(sql, [longestMs])).rowCount;
  }
  return limited;
}
