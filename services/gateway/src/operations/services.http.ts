import {
  ARCHIVE_OPERATIONS,
  ARCHIVING_SERVICES,
  type ArchiveOperations,
  type ArchivingService,
  DELIVERY_OPERATIONS,
  type InternalHandlers,
  type InternalOperation,
  MASTER_KEY_OPERATIONS,
  type MasterKeyOperations,
  QUERY_OPERATIONS,
  RESOLUTION_OPERATIONS,
  SEALING_SERVICES,
  type SealingService,
  type ServiceName,
  STATE_OPERATIONS,
  type StateOperations,
  WEBHOOK_OPERATIONS,
} from '@ecf/contracts';
import { createInternalClient } from '@ecf/http';
import type { Identities } from '@ecf/http/identity';
import type { GatewayConfig } from '../config.js';
import type { Upstream } from '../edge/upstream.http.js';
import { createHttpUpstream } from '../edge/upstream.http.js';
import type { ServiceOperations } from './ports.js';

/** Milliseconds that a service may take to answer the administration. */
const ADMIN_QUERY_MS = 20_000;

function addresses(config: GatewayConfig): Record<Exclude<ServiceName, 'gateway'>, string | undefined> {
  return {
    emission: config.EMISSION_URL,
    'status-poller': config.STATUS_POLLER_URL,
    reception: config.RECEPTION_URL,
    approvals: config.APPROVALS_URL,
    query: config.QUERY_URL,
  };
}

/** The services that the configuration names by their address. */
export function configuredUpstreams(
  config: GatewayConfig,
  identities: Identities,
): Partial<Record<ServiceName, Upstream>> {
  const upstreams: Partial<Record<ServiceName, Upstream>> = {};
  for (const [name, url] of Object.entries(addresses(config))) {
    const owner = name as ServiceName;
    if (url !== undefined)
      upstreams[owner] = createHttpUpstream({ url, owner, identities, timeoutMs: config.UPSTREAM_TIMEOUT_MS });
  }
  return upstreams;
}

/** Operations of these services for the administration. */
export function configuredOperations(config: GatewayConfig, identities: Identities): ServiceOperations {
  const urls = addresses(config);
  function client<T extends Readonly<Record<string, InternalOperation>>>(
    operations: T,
    owner: keyof typeof urls,
  ): InternalHandlers<T> | null {
    const url = urls[owner];
    if (url === undefined) return null;
    return createInternalClient(operations, { url, owner, identities, timeoutMs: ADMIN_QUERY_MS });
  }
  const archive: Partial<Record<ArchivingService, ArchiveOperations>> = {};
  for (const name of ARCHIVING_SERVICES) {
    const owner = client(ARCHIVE_OPERATIONS, name);
    if (owner !== null) archive[name] = owner;
  }
  const masterKeys: Partial<Record<SealingService, MasterKeyOperations>> = {};
  for (const name of SEALING_SERVICES) {
    const owner = name === 'gateway' ? null : client(MASTER_KEY_OPERATIONS, name);
    if (owner !== null) masterKeys[name] = owner;
  }
  const state: Partial<Record<ServiceName, StateOperations>> = {};
  for (const name of Object.keys(urls) as (keyof typeof urls)[]) {
    const owner = client(STATE_OPERATIONS, name);
    if (owner !== null) state[name] = owner;
  }
  return {
    resolution: client(RESOLUTION_OPERATIONS, 'emission'),
    deliveries: client(DELIVERY_OPERATIONS, 'approvals'),
    readModels: client(QUERY_OPERATIONS, 'query'),
    webhooks: client(WEBHOOK_OPERATIONS, 'query'),
    archive,
    masterKeys,
    state,
  };
}
