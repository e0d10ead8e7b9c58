import type { Logger, Metrics } from '@ecf/kit/telemetry';
import { type DocumentReader, isIntegrityError } from './xml-store.js';

/** Wraps a reader: each document that is missing or altered is counted and logged with its path. */
export function reportIntegrityErrors(
  reader: DocumentReader,
  { metrics, logger }: { metrics: Metrics; logger: Logger },
): DocumentReader {
  const errors = metrics.counter({
    name: 'ecf_integrity_errors_total',
    help: 'Reads of stored documents that were missing or altered',
  });
  return {
    async get(path, sha256) {
      try {
        return await reader.get(path, sha256);
      } catch (error) {
        if (isIntegrityError(error)) {
          errors.inc();
          logger.error({ err: error, path }, 'a stored document is missing or altered');
        }
        throw error;
      }
    },
  };
}
