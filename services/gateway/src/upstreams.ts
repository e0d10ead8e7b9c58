import type { ServiceName } from '@ecf/contracts';
import type { GatewayConfig } from './config.js';
import type { Upstream } from './core/upstream.js';
import { createHttpUpstream } from './outbound/upstream.http.js';

/** The services that the configuration names by their address. */
export function configuredUpstreams(config: GatewayConfig): Partial<Record<ServiceName, Upstream>> {
  const addresses: Partial<Record<ServiceName, string | undefined>> = {
    emission: config.EMISSION_URL,
    'status-poller': config.STATUS_POLLER_URL,
    reception: config.RECEPTION_URL,
    approvals: config.APPROVALS_URL,
    query: config.QUERY_URL,
  };
  const upstreams: Partial<Record<ServiceName, Upstream>> = {};
  for (const [name, url] of Object.entries(addresses))
    if (url !== undefined)
      upstreams[name as ServiceName] = createHttpUpstream({ url, timeoutMs: config.UPSTREAM_TIMEOUT_MS });
  return upstreams;
}
