import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import { type XmlStore, XmlStoreError } from './xml-store.js';

/** Whether an error says that a stored document is missing or is not the one that was stored. */
export function isDamaged(error: unknown): error is XmlStoreError {
  return error instanceof XmlStoreError && (error.code === 'missing' || error.code === 'altered');
}

/** The same store; each stored document that was asked for and cannot be given out is counted and logged with its path. */
export function tellDamaged(archive: XmlStore, { metrics, logger }: { metrics: Metrics; logger: Logger }): XmlStore {
  const damaged = metrics.counter({
    name: 'ecf_damaged_documents_total',
    help: 'Stored documents that were missing or altered when they were asked for',
  });
  return {
    put: (path, bytes, checksum) => archive.put(path, bytes, checksum),
    ready: () => archive.ready(),
    list: () => archive.list(),
    async get(path, checksum) {
      try {
        return await archive.get(path, checksum);
      } catch (error) {
        if (isDamaged(error)) {
          damaged.inc();
          logger.error({ err: error, path }, 'a stored document cannot be given out');
        }
        throw error;
      }
    },
  };
}
