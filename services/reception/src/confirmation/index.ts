import {
  authorityEndpoints,
  createAuthorityClient,
  createTokenProvider,
  inMemoryTokenCache,
} from '@ecf/authority-client';
import type { SealingKeys } from '@ecf/kit';
import { openSharedCache } from '@ecf/kit/cache';
import { measureAuthorityCalls } from '@ecf/kit/telemetry';
import { createDueWork } from '@ecf/postgres/due-work';
import type { ServiceDependencies } from '@ecf/service';
import type { ReceptionConfig } from '../config.js';
import { createConfirmationReport } from '../metrics.js';
import { createQueryState, type QueryStatePorts } from './authority-state.js';
import { createConfirmDocument } from './confirm-document.js';
import { createConfirmationStore } from './confirmations.postgres.js';
import { createPromoteDocument, type PromotePorts } from './promote-document.js';

/** Longer than login, query and their repetition take. */
const LEASE_MS = 180_000;
const CONCURRENCY = 8;

/** Queries the authority about received documents, in the background. */
export function createConfirmation(
  config: ReceptionConfig,
  { clock, clockSkew, logger, metrics, database }: ServiceDependencies,
  sealingKeys: SealingKeys,
  parts: QueryStatePorts & Omit<PromotePorts, 'confirmations'>,
) {
  const authority = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  const sharedCache = openSharedCache(config, { sealingKeys, logger, metrics });
  const tokens = createTokenProvider({
    client: authority,
    cache: sharedCache ?? inMemoryTokenCache(clock),
    beforeLogin: (login) => parts.recordUse({ ...login, use: 'login' }),
    clock,
  });
  const confirmations = createConfirmationStore(database);
  const confirm = createConfirmDocument({
    confirmations,
    queryState: createQueryState(parts, authority, tokens),
    promote: createPromoteDocument({ ...parts, confirmations }),
    report: createConfirmationReport(metrics, logger),
    clock,
  });
  const work = createDueWork({
    store: confirmations,
    handle: confirm,
    onError: (error, document) =>
      parts.observer.failed(document ? 'confirming a received document' : 'looking for documents to confirm', error),
    clock,
    leaseMs: LEASE_MS,
    concurrency: CONCURRENCY,
  });
  return {
    work,
    async close() {
      authority.close();
      await sharedCache?.close();
    },
  };
}
