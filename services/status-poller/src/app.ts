import { fileURLToPath } from 'node:url';
import { type AuthorityClient, authorityEndpoints, createAuthorityClient } from '@ecf/authority-client';
import { cleanInbox, createOutboxRelay, type Subscription } from '@ecf/bus';
import { FOLLOW_UP_OPERATIONS, type FollowUpOperations, type StateOperations } from '@ecf/contracts';
import { LONGEST_RETRY_DELAY_MS } from '@ecf/domain';
import { checkReadiness, createInternalClient, type Readiness } from '@ecf/http';
import type { Identities } from '@ecf/http/identity';
import { ConfigError } from '@ecf/kit';
import { measureAuthorityCalls } from '@ecf/kit/telemetry';
import { createDatabaseIfMissing, type DueTimes, migrate, revisionAfter, settleRestores } from '@ecf/postgres';
import { createDueTimeWatch } from '@ecf/postgres/due-work';
import { createCleaning, openServiceDependencies, type SharedDependencies } from '@ecf/service';
import type { Express } from 'express';
import { createBackground, createComparison } from './background.js';
import type { StatusPollerConfig } from './config.js';
import { subscribeToInvoices } from './invoice-events.kafka.js';
import { createInvoiceStatus } from './invoice-status.js';
import { createPollerMetrics } from './metrics.js';
import type { ReachCheckpoint } from './ports.js';
import { createQueryResult, createQueryTokens } from './query-result.js';
import { createStatusApp } from './routes.http.js';
import { firstDue } from './schedule.js';
import { statusEvent } from './status-event.js';
import { createSubmissionStore, STATUS_POLLER_GROUP } from './submissions.postgres.js';

const MIGRATIONS = fileURLToPath(new URL('../prisma/migrations', import.meta.url));
const QUERY_TIMEOUT_MS = 5_000;

/** Every due time of this service. The background reads them itself, by environment. */
const DUE_TIMES: readonly DueTimes[] = [
  { table: 'poll', column: 'due_at', longestMs: LONGEST_RETRY_DELAY_MS, wakes: false },
  { table: 'pace', column: 'paused_until', longestMs: LONGEST_RETRY_DELAY_MS, wakes: false },
];

/** Parts that a deployment shares between services, and parts that tests replace. */
export interface StatusPollerOverrides extends SharedDependencies {
  /** By default the client of EMISSION_URL. */
  emission?: FollowUpOperations;
  authority?: Pick<AuthorityClient, 'queryResult'>;
  random?: () => number;
  checkpoint?: ReachCheckpoint;
}

export interface StatusPoller {
  readonly app: Express;
  /** Creates and migrates the database, subscribes to submissions, queries due results and publishes changes. */
  start(): Promise<void>;
  /** Waits until queries in flight are answered and recorded. */
  stop(): Promise<void>;
  ready(): Promise<Readiness>;
  readonly state: StateOperations;
}

/** Wires the status poller. It opens no connection before `start`. */
export function createStatusPoller(config: StatusPollerConfig, overrides: StatusPollerOverrides = {}): StatusPoller {
  const parts = openServiceDependencies('status-poller', config, overrides);
  const { clock, clockSkew, logger, metrics, bus, identities, database } = parts;
  const { observer, backlog } = createPollerMetrics(metrics, logger);
  const client = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  const emission = overrides.emission ?? emissionOverHttp(config, identities);
  const random = overrides.random ?? Math.random;
  const firstQueryMs = config.FIRST_QUERY_MS;
  const submissions = createSubmissionStore({
    database,
    describe: (submission, result) => statusEvent(submission, result, clock()),
    firstDue: (submittedAt) => firstDue(submittedAt, clock(), firstQueryMs, random),
  });
  const queryResult = createQueryResult({
    submissions,
    authority: overrides.authority ?? client,
    tokens: createQueryTokens(emission),
    observer,
    clock,
  });
  const querying = { submissions, queryResult, observer, clock, ratePerSecond: config.POLL_RATE };
  const background = createBackground({
    ...querying,
    random,
    firstQueryMs,
    checkpoint: overrides.checkpoint ?? (() => undefined),
    concurrency: config.POLL_CONCURRENCY,
    idleMs: config.POLL_IDLE_MS,
    leaseMs: config.POLL_LEASE_MS,
  });
  const comparison = createComparison(
    { submissions, emission, observer, clock, random, compareEveryMs: config.COMPARE_EVERY_MS },
    background.wake,
  );
  const invoiceStatus = createInvoiceStatus(
    { ...querying, emission, answerBudgetMs: config.STATUS_BUDGET_MS, freshMs: config.STATUS_FRESH_MS },
    background.wake,
  );
  const relay = createOutboxRelay({ database, bus, service: 'status-poller', logger, metrics, clock });
  const ready = () => checkReadiness({ database: () => database.query('SELECT 1'), storage: parts.storageReady });
  const app = createStatusApp(invoiceStatus, {
    logger,
    identities,
    maxBodyBytes: 0,
    bodies: parts.bodies,
    ready,
    state: parts.state,
  });

  let subscription: Subscription | null = null;
  let endCounting: () => void = () => undefined;

  const cleaning = createCleaning({
    clean: (now) => cleanInbox(database, now),
    clock,
    failed: (error) => observer.failed('cleaning', error),
  });

  const dueTimes = createDueTimeWatch({
    database,
    columns: DUE_TIMES,
    wake: background.wake,
    failed: (error) => observer.failed('limiting due times', error),
  });

  return {
    app,
    ready,
    state: parts.state,
    async start() {
      await createDatabaseIfMissing(config.DATABASE_URL);
      await migrate(config.DATABASE_URL, MIGRATIONS);
      await parts.startClock();
      // Emission has later revisions of undecided results. What this service lost is compared with emission at its start.
      await settleRestores(database, async (tx, restore) => {
        if (restore.ofOthers) return;
        await tx.query('UPDATE submission SET revision = greatest(revision, $1) WHERE NOT final', [
          revisionAfter(restore),
        ]);
      });
      subscription = await subscribeToInvoices(bus, STATUS_POLLER_GROUP, submissions, background.wake);
      relay.start();
      background.start();
      comparison.start();
      endCounting = metrics.onRender(async () => backlog(await submissions.backlog(clock()), clock()));
      cleaning.start();
      dueTimes.start();
    },
    async stop() {
      await cleaning.stop();
      await dueTimes.stop();
      endCounting();
      await comparison.stop();
      await background.stop();
      await relay.stop();
      await subscription?.stop();
      client.close();
      await parts.close();
    },
  };
}

function emissionOverHttp(config: StatusPollerConfig, identities: Identities): FollowUpOperations {
  if (config.EMISSION_URL === undefined) {
    throw new ConfigError([{ variable: 'EMISSION_URL', message: 'is required where emission is another process' }]);
  }
  return createInternalClient(FOLLOW_UP_OPERATIONS, {
    url: config.EMISSION_URL,
    owner: 'emission',
    identities,
    timeoutMs: QUERY_TIMEOUT_MS,
  });
}
