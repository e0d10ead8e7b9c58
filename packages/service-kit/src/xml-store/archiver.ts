import type { Database } from '../postgres/database.js';
import type { Logger } from '../telemetry/logger.js';
import type { Metrics } from '../telemetry/metrics.js';
import { withoutTrace } from '../telemetry/tracing.js';
import { pendingBytes } from './pending-documents.js';
import { type XmlStore, XmlStoreError } from './xml-store.js';

export interface ArchiverOptions {
  readonly database: Database;
  readonly archive: Pick<XmlStore, 'put' | 'get'>;
  /** The service that owns the documents: a label of the metrics. */
  readonly service: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Milliseconds between looks when nothing is due; default 500. */
  readonly idleMs?: number;
  /** Milliseconds after which another archiver may repeat the work of one that died; default 30000. */
  readonly leaseMs?: number;
  /** Milliseconds before the second attempt, doubled with each failure up to five minutes; default 1000. */
  readonly firstRetryMs?: number;
}

export interface Archiver {
  start(): void;
  /** Finishes the documents in progress. */
  stop(): Promise<void>;
}

interface DueDocument {
  readonly path: string;
  readonly sha256: string;
}

const BATCH = 16;
/** A document may have ten megabytes, so few are in memory at once. */
const CONCURRENCY = 4;
const LONGEST_RETRY_MS = 300_000;

const CLAIM = {
  name: 'pending_document_claim',
  text: `UPDATE pending_document SET due_at = clock_timestamp() + $2 * interval '1 millisecond'
          WHERE (path, sha256) IN (SELECT path, sha256 FROM pending_document WHERE due_at <= clock_timestamp()
                                    ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED)
          RETURNING path, sha256`,
};
const ARCHIVED = {
  name: 'pending_document_archived',
  text: 'DELETE FROM pending_document WHERE (path, sha256) IN (SELECT * FROM unnest($1::text[], $2::text[]))',
};
const FAILED = {
  name: 'pending_document_failed',
  text: `UPDATE pending_document SET failures = failures + 1,
                due_at = clock_timestamp() + least($3 * 2.0 ^ least(failures, 30), $4) * interval '1 millisecond'
          WHERE (path, sha256) IN (SELECT * FROM unnest($1::text[], $2::text[]))`,
};
const STATE = `SELECT count(*) AS pending,
                      coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 AS oldest
                 FROM pending_document`;

/**
 * Moves pending documents from the database to the archive: store, read back and compare the checksum, then delete the row. A
 * repeat after a crash finds the same object and succeeds. If another object has the path, the row stays and an alarm is raised.
 */
export function createArchiver(options: ArchiverOptions): Archiver {
  const { database, archive, logger, service } = options;
  const { idleMs = 500, leaseMs = 30_000, firstRetryMs = 1_000 } = options;
  const metrics = archiverMetrics(options);
  let stopping = false;
  let running: Promise<void> = Promise.resolve();
  let endPause: () => void = () => undefined;

  async function work(): Promise<boolean> {
    const { rows: due } = await database.query<DueDocument>(CLAIM, [BATCH, leaseMs]);
    if (due.length === 0) return false;
    const archived: DueDocument[] = [];
    const failed: { document: DueDocument; error: unknown }[] = [];
    const queue = [...due];
    const worker = async () => {
      for (let document = queue.shift(); document !== undefined; document = queue.shift())
        try {
          await archiveOne(document);
          archived.push(document);
        } catch (error) {
          failed.push({ document, error });
        }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    if (archived.length > 0) await database.query(ARCHIVED, keysOf(archived));
    if (failed.length > 0) await keep(failed);
    return due.length === BATCH && archived.length > 0;
  }

  async function archiveOne({ path, sha256 }: DueDocument): Promise<void> {
    const bytes = await pendingBytes(database, path, sha256);
    // Another archiver finished it after the lease had ended.
    if (bytes === null) return;
    await archive.put(path, bytes, sha256);
    await archive.get(path, sha256);
  }

  async function keep(failed: readonly { document: DueDocument; error: unknown }[]): Promise<void> {
    for (const { document, error } of failed) {
      const conflict = isConflict(error);
      metrics.failed(conflict ? 'conflict' : 'unavailable');
      if (conflict)
        logger.error({ err: error, path: document.path, service }, 'the archive has another document under this path');
    }
    const others = failed.filter(({ error }) => !isConflict(error));
    if (others.length > 0)
      logger.warn({ err: others[0]?.error, documents: others.length, service }, 'documents could not be archived');
    await database.query(FAILED, [...keysOf(failed.map(({ document }) => document)), firstRetryMs, LONGEST_RETRY_MS]);
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      const more = await work().catch((error) => {
        logger.warn({ err: error, service }, 'pending documents could not be read or updated');
        return false;
      });
      if (!more && !stopping) await pause();
    }
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, idleMs);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    start() {
      running = withoutTrace(loop);
    },
    async stop() {
      stopping = true;
      endPause();
      await running;
      metrics.close();
    },
  };
}

/** The archive has other bytes under the path. */
function isConflict(error: unknown): boolean {
  return error instanceof XmlStoreError && (error.code === 'exists' || error.code === 'altered');
}

function keysOf(documents: readonly DueDocument[]): [string[], string[]] {
  return [documents.map(({ path }) => path), documents.map(({ sha256 }) => sha256)];
}

function archiverMetrics({ metrics, service, database }: ArchiverOptions) {
  const pending = metrics.gauge({
    name: 'ecf_archive_pending_documents',
    help: 'Documents in the database that wait for the archive',
    labels: ['service'],
  });
  const oldest = metrics.gauge({
    name: 'ecf_archive_oldest_pending_seconds',
    help: 'Age of the oldest document that waits for the archive',
    labels: ['service'],
  });
  const failures = metrics.counter({
    name: 'ecf_archive_failures_total',
    help: 'Failed attempts to archive a document; conflict: the archive has another document under its path',
    labels: ['service', 'reason'],
  });
  const close = metrics.onRender(async () => {
    const { rows } = await database.query<{ pending: number; oldest: number }>(STATE);
    pending.set({ service }, rows[0]?.pending ?? 0);
    oldest.set({ service }, rows[0]?.oldest ?? 0);
  });
  return { failed: (reason: 'conflict' | 'unavailable') => failures.inc({ service, reason }), close };
}
