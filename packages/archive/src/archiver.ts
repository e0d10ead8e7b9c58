import { withoutTrace } from '@ecf/kit';
import type { Logger, Metrics } from '@ecf/kit/telemetry';
import type { Database, DueTimes } from '@ecf/postgres';
import { createDueWork } from '@ecf/postgres/due-work';
import { checkedBytes, type XmlStore, XmlStoreError } from './xml-store.js';

export interface ArchiverOptions {
  readonly database: Database;
  readonly archive: Pick<XmlStore, 'put' | 'get'>;
  /** The service that owns the documents: a label of the metrics. */
  readonly service: string;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** Longest pause in milliseconds between two looks; default that of {@link createDueWork}. */
  readonly idleMs?: number;
  /** Milliseconds after which another archiver may repeat the work of one that died; default 30000. */
  readonly leaseMs?: number;
  /** Milliseconds before the second attempt, doubled with each failure up to five minutes; default 1000. */
  readonly firstRetryMs?: number;
}

export interface Archiver {
  start(): void;
  /** Looks for pending documents soon: some are due. */
  wake(): void;
  /** Finishes the documents in flight. */
  stop(): Promise<void>;
}

interface DueDocument {
  readonly path: string;
  readonly sha256: string;
  readonly bytes: Buffer;
  /** Failed attempts so far. */
  readonly failures: number;
}

/** Documents that share one claim and one deletion. */
const BATCH = 64;
/** A document may have ten megabytes: the bound keeps only a few of that size in memory at the same time. */
const BATCH_BYTES = 16 * 1_048_576;
/** No caller waits for the archiver; a longer pause makes larger batches. */
const GATHER_MS = 50;
const LONGEST_RETRY_MS = 300_000;

/** Due times of documents that wait for the archive. */
export const PENDING_DOCUMENT_DUE_TIMES: DueTimes = {
  table: 'pending_document',
  column: 'due_at',
  longestMs: LONGEST_RETRY_MS,
};

// Due times are set and compared by the clock of the database alone.
const CLAIM = {
  name: 'pending_document_claim',
  text: `WITH due AS (
           SELECT path, sha256, due_at, octet_length(bytes) AS size FROM pending_document
            WHERE due_at <= clock_timestamp() ORDER BY due_at LIMIT $1 FOR UPDATE SKIP LOCKED
         ), batch AS (
           SELECT path, sha256, row_number() OVER w AS nth, sum(size) OVER w AS total
             FROM due WINDOW w AS (ORDER BY due_at, path, sha256)
         )
         UPDATE pending_document p SET due_at = clock_timestamp() + $2 * interval '1 millisecond'
           FROM batch b
          WHERE p.path = b.path AND p.sha256 = b.sha256 AND (b.nth = 1 OR b.total <= $3)
         RETURNING p.path, p.sha256, p.bytes, p.failures`,
};
const ARCHIVED = {
  name: 'pending_document_archived',
  text: `WITH archived AS (
           DELETE FROM pending_document p USING unnest($1::text[], $2::text[]) AS d(path, sha256)
            WHERE p.path = d.path AND p.sha256 = d.sha256
           RETURNING octet_length(p.bytes) AS size
         )
         UPDATE archive_size SET bytes = bytes + (SELECT coalesce(sum(size), 0) FROM archived)`,
};
const FAILED = {
  name: 'pending_document_failed',
  text: `UPDATE pending_document SET failures = failures + 1,
                due_at = clock_timestamp() + least($3 * 2.0 ^ least(failures, 30), $4) * interval '1 millisecond'
          WHERE path = $1 AND sha256 = $2`,
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
  const { idleMs, leaseMs = 30_000, firstRetryMs = 1_000 } = options;
  const metrics = archiverMetrics(options);

  /** True if the archive holds the document; false if another attempt is due later. */
  async function archiveOne(document: DueDocument): Promise<boolean> {
    const { path, sha256 } = document;
    try {
      await archive.put(path, checkedBytes(path, document.bytes, sha256), sha256);
      await archive.get(path, sha256);
      return true;
    } catch (error) {
      await retryLater(document, error);
      return false;
    }
  }

  async function retryLater({ path, sha256, failures }: DueDocument, error: unknown): Promise<void> {
    if (isConflict(error)) {
      metrics.failed('conflict');
      logger.error({ err: error, path, service }, 'the archive has another document under this path');
    } else {
      metrics.failed('unavailable');
      // Once for each document: an outage of hours repeats the attempts.
      if (failures === 0) logger.warn({ err: error, path, service }, 'a document could not be archived');
    }
    await database.query(FAILED, [path, sha256, firstRetryMs, LONGEST_RETRY_MS]);
  }

  const work = createDueWork<readonly DueDocument[]>({
    store: {
      async claimDue() {
        const { rows } = await database.query<DueDocument>(CLAIM, [BATCH, leaseMs, BATCH_BYTES]);
        return rows.length === 0 ? [] : [rows];
      },
    },
    async handle(batch) {
      const stored = await Promise.all(batch.map(archiveOne));
      const archived = batch.filter((_, index) => stored[index]);
      if (archived.length > 0)
        await database.query(ARCHIVED, [archived.map(({ path }) => path), archived.map(({ sha256 }) => sha256)]);
    },
    onError: (error) => logger.warn({ err: error, service }, 'pending documents could not be read or updated'),
    clock: () => new Date(),
    leaseMs,
    ...(idleMs === undefined ? {} : { idleMs }),
    concurrency: 1,
    gatherMs: GATHER_MS,
  });

  return {
    start: () => withoutTrace(work.start),
    wake: work.wake,
    async stop() {
      await work.stop();
      metrics.close();
    },
  };
}

/** The archive has other bytes under the path. */
function isConflict(error: unknown): boolean {
  return error instanceof XmlStoreError && (error.code === 'exists' || error.code === 'altered');
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
  failures.inc({ service, reason: 'conflict' }, 0);
  const close = metrics.onRender(async () => {
    const { rows } = await database.query<{ pending: number; oldest: number }>(STATE);
    pending.set({ service }, rows[0]?.pending ?? 0);
    oldest.set({ service }, rows[0]?.oldest ?? 0);
  });
  return { failed: (reason: 'conflict' | 'unavailable') => failures.inc({ service, reason }), close };
}
