import { estimatedRows, type Queries } from '@ecf/postgres';
import type { StoredFileTable } from './stored-files.js';
import { type DocumentReader, isIntegrityError } from './xml-store.js';

/** The hour of the check, UTC: from three to four in the morning in the Dominican Republic. */
const NIGHT_HOUR = 7;
/** The share of a table's rows, in percent. */
const SHARE = 1;
/** About as many rows of a table at most in a night, so that the check ends before the morning. */
const MOST_ROWS = 100_000;

export interface NightlyCheck {
  readonly database: Queries;
  readonly tables: readonly StoredFileTable[];
  /** Counts and logs the documents that are missing or altered. */
  readonly reader: DocumentReader;
  /** Default {@link SHARE}. */
  readonly share?: number;
  /** Default {@link MOST_ROWS}. */
  readonly mostRows?: number;
}

/**
 * Reads a random share of the stored documents each night and compares their checksums. So a damaged storage is noticed without a
 * reader. Each instance checks another share. To be called once an hour; in other hours it does nothing.
 *
 * @param signal aborted when the service stops
 */
export async function checkArchiveAtNight(
  { database, tables, reader, share = SHARE, mostRows = MOST_ROWS }: NightlyCheck,
  now: Date,
  signal: AbortSignal,
): Promise<void> {
  if (now.getUTCHours() !== NIGHT_HOUR) return;
  for (const { table, files } of tables) {
    // A LIMIT would end the check of a large table before its newest months, each night.
    const percent = Math.min(share, (mostRows / Math.max(1, await estimatedRows(database, table))) * 100);
    for (const [path, sha256] of files) {
      const { rows } = await database.query<{ path: string; sha256: string }>(
        `SELECT ${path} AS path, ${sha256} AS sha256 FROM ${table} TABLESAMPLE SYSTEM (${percent})
         WHERE ${path} IS NOT NULL`,
      );
      for (const row of rows) {
        if (signal.aborted) return;
        await reader.get(row.path, row.sha256).catch((error: unknown) => {
          if (!isIntegrityError(error)) throw error;
        });
      }
    }
  }
}
