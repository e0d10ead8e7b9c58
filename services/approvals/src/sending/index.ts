import {
  type AddressLookup,
  authorityEndpoints,
  createAuthorityClient,
  createCircuitBreakers,
  createReceiverClient,
  createTokenProvider,
  inMemoryTokenCache,
  type TokenCache,
} from '@ecf/authority-client';
import type { SealingKeys } from '@ecf/kit';
import { openSharedCache } from '@ecf/kit/cache';
import { measureAuthorityCalls } from '@ecf/kit/telemetry';
import type { ServiceDependencies } from '@ecf/service';
import { createCertificateUses } from '@ecf/taxpayer-replica/certificate-uses';
import type { ApprovalsConfig } from '../config.js';
import { ACTS } from '../events.postgres.js';
import type { SendReport } from '../metrics.js';
import { createEndpoints } from './endpoints.js';
import type { Kind, Send } from './outgoing.js';
import type { OutgoingStore } from './ports.js';
import { createSending, type Sending } from './sending.js';

/** A send that takes longer frees its slot for another. */
const SLOW_MS = 500;
/** Sends in flight for each slot, slow ones included. */
const IN_FLIGHT_PER_SLOT = 32;
const LONGEST_PAUSE_MS = 5 * 60_000;
const PAUSES = { openMs: 2_000, maxOpenMs: LONGEST_PAUSE_MS, maxPauseMs: LONGEST_PAUSE_MS };

/** The clients of the authority and of receivers, with their tokens, logins and circuit breakers. */
export type Recipients = ReturnType<typeof createRecipients>;

export function createRecipients(
  config: ApprovalsConfig,
  service: ServiceDependencies,
  sealingKeys: SealingKeys,
  replaced: { readonly tokenCache?: TokenCache | undefined; readonly receiverNames?: AddressLookup | undefined },
) {
  const { clock, clockSkew, logger, metrics, database } = service;
  const recordUse = createCertificateUses({ database, acts: ACTS, clock });
  const authority = createAuthorityClient({
    endpoints: authorityEndpoints(config.AUTHORITY_URL),
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.AUTHORITY_TIMEOUT_MS, totalMs: config.AUTHORITY_TIMEOUT_MS + 5_000 },
    onCall: measureAuthorityCalls(metrics, { skew: clockSkew }),
    clock,
  });
  // A buyer that never answers opens its own circuit breaker long before that of a host that answers others. It cannot use
  // more than half of the slots.
  const hostOptions = { ...PAUSES, failures: 10, maxInFlight: slotsPerHost(config) };
  const hostCircuits = createCircuitBreakers({ options: hostOptions, elapsed });
  const receivers = createReceiverClient({
    circuits: hostCircuits,
    userAgent: 'ecf-gateway',
    timeouts: { responseMs: config.RECEIVER_TIMEOUT_MS, totalMs: config.RECEIVER_TIMEOUT_MS + 5_000 },
    allowPlainHttp: config.ALLOW_PRIVATE_ADDRESSES,
    ...(config.ALLOW_PRIVATE_ADDRESSES ? { addressGuard: () => true } : {}),
    ...(replaced.receiverNames === undefined ? {} : { lookup: replaced.receiverNames }),
    clock,
  });
  const sharedCache = openSharedCache(config, { sealingKeys, logger, metrics });
  const tokens = createTokenProvider({
    client: authority,
    cache: replaced.tokenCache ?? sharedCache ?? inMemoryTokenCache(clock),
    beforeLogin: (login) => recordUse({ ...login, use: 'login' }),
    clock,
  });
  const endpoints = createEndpoints({
    authority,
    receivers,
    tokens,
    recordUse,
    logsIn: config.RECEIVER_LOGINS,
    clock,
    entryLifeMs: config.DIRECTORY_ENTRY_SECONDS * 1_000,
  });
  return {
    authority,
    receivers,
    hostCircuits,
    tokens,
    endpoints,
    recordUse,
    async close() {
      authority.close();
      receivers.close();
      await sharedCache?.close();
    },
  };
}

/** Sends the documents of all kinds in the background, with the slots and circuit breakers of the settings. */
export function createSendingOf(
  config: ApprovalsConfig,
  parts: {
    readonly store: OutgoingStore;
    readonly send: Readonly<Record<Kind, Send>>;
    readonly hostCircuits: Recipients['hostCircuits'];
    readonly report: SendReport;
    readonly clock: () => Date;
    readonly claimed: () => Promise<void> | void;
  },
): Sending {
  const { report } = parts;
  const options = { ...PAUSES, failures: 3 };
  return createSending(
    {
      ...parts,
      recipientCircuits: createCircuitBreakers({ options, elapsed, onPause: report.paused }),
      report: { failed: report.failed, gaveUp: (delivery) => report.changed(delivery, delivery.status) },
    },
    {
      leaseMs: config.APPROVAL_CLAIM_MS,
      idleMs: config.SENDING_IDLE_MS,
      concurrency: config.DELIVERY_CONCURRENCY,
      maxInFlight: config.DELIVERY_CONCURRENCY * IN_FLIGHT_PER_SLOT,
      slowMs: SLOW_MS,
      toAuthority: config.APPROVAL_CONCURRENCY,
      perBuyer: config.DELIVERY_PER_RECEIVER,
      perHost: slotsPerHost(config),
    },
  );
}

function slotsPerHost(config: ApprovalsConfig): number {
  return Math.max(Math.floor(config.DELIVERY_CONCURRENCY / 2), 1);
}

function elapsed(): number {
  return performance.now();
}
