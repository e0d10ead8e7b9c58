import type { ServiceRoute } from '@ecf/http';
import type { DueWork } from '@ecf/postgres/due-work';
import type { ServiceDependencies } from '@ecf/service';
import type { Observer } from '../attempt/ports.js';
import type { EmissionConfig } from '../config.js';
import { publicError } from '../errors.http.js';
import type { IssueJson } from '../issue/issue-json.js';
import { createBatchMetrics } from '../metrics.js';
import { batchEvent } from '../published/changed-events.js';
import { createCountBackground, createLineBackground } from './batch-background.js';
import { batchRoutes } from './batches.http.js';
import { createPostgresBatchStore } from './batches.postgres.js';
import type { ReadLines } from './line-numbers.js';
import type { LineRate } from './ports.js';
import { createProcessLine } from './process-line.js';
import { createReceiveBatch } from './receive-batch.js';

export interface BatchWork {
  /** The work on the lines, and the count of final lines. */
  readonly backgrounds: readonly Pick<DueWork<unknown>, 'start' | 'wake' | 'stop'>[];
  readonly routes: readonly ServiceRoute[];
  deleteExpired(now: Date): Promise<void>;
  countBacklog(): Promise<void>;
}

/** Batches: their routes, and the work on their lines. */
export function createBatches(
  config: EmissionConfig,
  { database, clock, metrics }: ServiceDependencies,
  {
    issueJson,
    readLine,
    lineRate,
    random,
    observer,
    leaseMs,
    submissionsInFlight,
  }: {
    readonly issueJson: IssueJson;
    readonly readLine: ReadLines;
    readonly lineRate: LineRate;
    readonly random: () => number;
    readonly observer: Observer;
    /** Milliseconds for which a line is leased. */
    readonly leaseMs: number;
    readonly submissionsInFlight: () => number;
  },
): BatchWork {
  const store = createPostgresBatchStore({
    database,
    timeoutMs: config.DATABASE_WAIT_MS,
    describe: (batch) => batchEvent(batch, clock()),
  });
  const idleMs = config.BACKGROUND_IDLE_MS;
  const lines = createLineBackground({
    batches: store,
    processLine: createProcessLine({ batches: store, lineRate, clock, random }, issueJson, publicError),
    lineRate,
    observer,
    hasSubmissions: () => submissionsInFlight() > 0,
    clock,
    leaseMs,
    idleMs,
    concurrency: config.BATCH_CONCURRENCY,
  });
  const counts = createCountBackground({ batches: store, clock, observer, idleMs });
  const showBacklog = createBatchMetrics(metrics);
  return {
    backgrounds: [lines, counts],
    routes: batchRoutes({
      receive: createReceiveBatch({ batches: store, readLine, clock }, lines.wake),
      batches: store,
      clock,
      maxDocumentBytes: config.MAX_BODY_BYTES,
    }),
    deleteExpired: store.deleteExpired,
    countBacklog: async () => showBacklog(await store.backlog(), clock()),
  };
}
