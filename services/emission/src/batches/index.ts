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
  ports: {
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
  const batchPorts = { ...ports, clock, batches: store, settings: { leaseMs: ports.leaseMs } };
  const options = {
    idleMs: config.BACKGROUND_IDLE_MS,
    concurrency: config.BATCH_CONCURRENCY,
    hasSubmissions: () => ports.submissionsInFlight() > 0,
  };
  const lines = createLineBackground(batchPorts, createProcessLine(batchPorts, ports.issueJson, publicError), options);
  const showBacklog = createBatchMetrics(metrics);
  return {
    backgrounds: [lines, createCountBackground(batchPorts, options)],
    routes: batchRoutes({
      receive: createReceiveBatch(batchPorts, lines.wake),
      batches: store,
      clock,
      maxDocumentBytes: config.MAX_BODY_BYTES,
    }),
    deleteExpired: store.deleteExpired,
    countBacklog: async () => showBacklog(await store.backlog(), clock()),
  };
}
