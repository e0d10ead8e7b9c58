import type { DocumentReader } from '@ecf/archive';
import type { AuthorityClient } from '@ecf/authority-client';
import type { ServiceRoute } from '@ecf/http';
import type { DueWork } from '@ecf/postgres/due-work';
import type { ServiceDependencies } from '@ecf/service';
import type { ReachCheckpoint } from '../attempt/ports.js';
import type { EmissionConfig } from '../config.js';
import type { Credentials } from '../credentials/index.js';
import { createKeyedQueue } from '../issue/keyed-queue.js';
import { createCancellationMetrics } from '../metrics.js';
import { cancellationEvent } from '../published/changed-events.js';
import { createCancelNumbers } from './cancel-numbers.js';
import type { Cancellation } from './cancellation.js';
import { createCancellationDocuments } from './cancellation-documents.worker.js';
import { cancellationRoutes } from './cancellations.http.js';
import { createPostgresCancellationStore } from './cancellations.postgres.js';
import type { CancellationStore } from './ports.js';
import { createCancellationBackground, createSendCancellation } from './send-cancellation.js';
import { createSettleCancellation, type SettleCancellation } from './settle-cancellation.js';

export interface CancellationWork {
  readonly store: CancellationStore;
  readonly settle: SettleCancellation;
  readonly background: DueWork<Cancellation>;
  readonly routes: readonly ServiceRoute[];
  countBacklog(): Promise<void>;
  close(): Promise<void>;
}

/** Cancellations of numbers: their routes, and the sends that are due. */
export function createCancellations(
  config: EmissionConfig,
  { database, clock, metrics, logger, watchQueue }: ServiceDependencies,
  { taxpayers, certificates, tokens, recordUse }: Credentials,
  {
    authority,
    archive,
    sendTimeoutMs,
    pending,
    random,
    sleep,
    checkpoint,
  }: {
    readonly authority: Pick<AuthorityClient, 'submitCancellation'>;
    readonly archive: DocumentReader;
    readonly sendTimeoutMs: number;
    readonly pending: Set<Promise<unknown>>;
    readonly random: () => number;
    readonly sleep: (ms: number) => Promise<void>;
    readonly checkpoint: ReachCheckpoint;
  },
): CancellationWork {
  const { observer, backlog: showBacklog } = createCancellationMetrics(metrics, logger);
  const cancellations = createPostgresCancellationStore({
    database,
    timeoutMs: config.DATABASE_WAIT_MS,
    describe: (cancellation) => cancellationEvent(cancellation, clock()),
  });
  const documents = createCancellationDocuments(watchQueue);
  const shared = {
    cancellations,
    taxpayers,
    certificates,
    tokens,
    observer,
    clock,
    // Two logins of two calls each, and two sends.
    leaseMs: 6 * sendTimeoutMs + 15_000,
    sending: new Set<number>(),
    checkpoint,
  };
  const firstRetryMs = config.FIRST_RETRY_MS;
  const send = createSendCancellation({ ...shared, authority, archive, random, sleep, firstRetryMs, pending });
  const cancel = createCancelNumbers({ ...shared, documents, recordUse, send, inOrder: createKeyedQueue() });
  return {
    store: cancellations,
    settle: createSettleCancellation(cancellations, observer, clock),
    background: createCancellationBackground({ ...shared, idleMs: config.BACKGROUND_IDLE_MS, send }),
    routes: cancellationRoutes({ cancel, documents, cancellations, taxpayers, archive }, config.MAX_BODY_BYTES),
    countBacklog: async () => showBacklog(await cancellations.backlog()),
    close: documents.close,
  };
}
