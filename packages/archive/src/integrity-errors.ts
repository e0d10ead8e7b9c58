import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { Queries } from '@ecf/postgres';
import { type DocumentReader, isIntegrityError } from './xml-store.js';

export interface IntegrityErrors {
  /** Wraps a reader: each document that is missing or altered is counted, logged with its path, and kept as damaged. */
  reported(reader: DocumentReader): DocumentReader;
  /** Reads the damaged documents again, and forgets the intact ones. Ends early while the archive is unavailable. */
  readAgain(signal: AbortSignal): Promise<void>;
  close(): void;
}

const ADD = `INSERT INTO damaged_document (path, sha256, kind) VALUES ($1, $2, $3) ON CONFLICT (path, sha256) DO NOTHING`;

/** Keeps the stored documents that a service found missing or altered, until a later read finds them intact. */
export function createIntegrityErrors(parts: {
  readonly database: Queries;
  readonly archive: DocumentReader;
  /** A label of the metrics. */
  readonly service: string;
  readonly metrics: Metrics;
  readonly logger: Logger;
}): IntegrityErrors {
  const { database, archive, service, metrics, logger } = parts;
  const errors = metrics.counter({
    name: 'ecf_integrity_errors_total',
    help: 'Reads of stored documents that were missing or altered',
  });
  const damaged = metrics.gauge({
    name: 'ecf_damaged_documents',
    help: 'Stored documents that were missing or altered when they were last read',
    labels: ['service'],
  });
  const close = metrics.onRender(async () => {
    const { rows } = await database.query<{ count: number }>('SELECT count(*) AS count FROM damaged_document');
    damaged.set({ service }, rows[0]?.count ?? 0);
  });
  const notKept = (path: string) => (err: unknown) =>
    logger.warn({ err, path }, 'a damaged document could not be noted in the database');

  return {
    reported: (reader) => ({
      async get(path, sha256) {
        try {
          return await reader.get(path, sha256);
        } catch (error) {
          if (isIntegrityError(error)) {
            errors.inc();
            logger.error({ err: error, path }, 'a stored document is missing or altered');
            await database.query(ADD, [path, sha256, error.code]).catch(notKept(path));
          }
          throw error;
        }
      },
    }),
    async readAgain(signal) {
      const { rows } = await database.query<{ path: string; sha256: string }>(
        'SELECT path, sha256 FROM damaged_document',
      );
      for (const { path, sha256 } of rows) {
        if (signal.aborted) return;
        try {
          await archive.get(path, sha256);
        } catch (error) {
          if (isIntegrityError(error)) continue;
          return logger.warn({ err: error, path }, 'the damaged documents could not be read again');
        }
        await database.query('DELETE FROM damaged_document WHERE path = $1 AND sha256 = $2', [path, sha256]);
      }
    },
    close,
  };
}
