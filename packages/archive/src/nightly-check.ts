import type { Logger, Metrics } from '@ecf/kit/telemetry';
import { estimatedRows, type Queries } from '@ecf/postgres';
import type { IntegrityErrors } from './integrity-errors.js';
import type { StoredFileTable } from './stored-files.js';
import { type DocumentReader, isIntegrityError } from './xml-store.js';

/** The hour of the check, UTC: from three to four in the morning in the Dominican Republic. */
const NIGHT_HOUR = 7;
/** The share of a table's rows, in percent. */
const SHARE = 1;
/** About as many rows of a table at most in a night, so that the check ends before the morning. */
const MOST_ROWS = 100_000;
/** The check ends when this number of reads in a row fails: the storage is unavailable. */
const MOST_FAILURES = 10;

export interface ArchiveCheckParts {
  /** A label of the metrics. */
  readonly service: string;
  readonly database: Queries;
  readonly tables: readonly StoredFileTable[];
  /** Reports the documents that are missing or altered. */
  readonly reader: DocumentReader;
  readonly integrity: Pick<IntegrityErrors, 'readAgain'>;
  readonly metrics: Metrics;
  readonly logger: Logger;
  /** Default {@link SHARE}. */
  readonly share?: number;
  /** Default {@link MOST_ROWS}. */
  readonly mostRows?: number;
}

type Row = Readonly<Record<'path' | 'sha256', string>>;

/**
 * Reads a random share of the stored documents each night and compares their checksums. So a damaged storage is noticed without a
 * reader. Each instance checks another share. Returns the check, to be called once an hour: in other hours it only reads the
 * damaged documents again.
 */
export function createArchiveCheck(
  parts: ArchiveCheckParts,
): (now: Date, /** aborted when the service stops */ signal: AbortSignal) => Promise<void> {
  const { service, database, tables, reader, integrity, logger } = parts;
  const checked = parts.metrics.counter({
    name: 'ecf_archive_checked_documents_total',
    help: 'Stored documents that the nightly check read: intact, damaged (missing or altered) or unavailable',
    labels: ['service', 'outcome'],
  });

  async function* sample(): AsyncGenerator<Row> {
    for (const { table, files } of tables)
      for (const columns of files) yield* await someOf(database, table, columns, parts);
  }

  async function checkSample(signal: AbortSignal): Promise<void> {
    let failures = 0;
    for await (const { path, sha256 } of sample()) {
      if (signal.aborted) return;
      try {
        await reader.get(path, sha256);
        checked.inc({ service, outcome: 'intact' });
        failures = 0;
      } catch (error) {
        const isDamaged = isIntegrityError(error);
        checked.inc({ service, outcome: isDamaged ? 'damaged' : 'unavailable' });
        failures = isDamaged ? 0 : failures + 1;
        if (!isDamaged) logger.warn({ err: error, path }, 'the nightly check could not read a document');
        if (failures === MOST_FAILURES) throw error;
      }
    }
  }

  return async (now, signal) => {
    await integrity.readAgain(signal);
    if (now.getUTCHours() === NIGHT_HOUR) await checkSample(signal);
  };
}

/** Documents of random blocks of a table: of all its partitions, the recent ones too. */
async function someOf(
  database: Queries,
  table: string,
  [path, sha256]: StoredFileTable['files'][number],
  { share = SHARE, mostRows = MOST_ROWS }: Pick<ArchiveCheckParts, 'share' | 'mostRows'>,
): Promise<Row[]> {
  // A LIMIT would end the check of a large table before its newest months, each night.
  const percent = Math.min(share, (100 * mostRows) / Math.max(1, await estimatedRows(database, table)));
  const { rows } = await database.query<Row>(
    `SELECT ${path} AS path, ${sha256} AS sha256 FROM ${table} TABLESAMPLE SYSTEM (${percent}) WHERE ${path} IS NOT NULL`,
  );
  return rows;
}
