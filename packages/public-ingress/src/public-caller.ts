import type { IncomingMessage } from 'node:http';
import type { Environment } from '@ecf/domain';
import { senderSite } from '@ecf/service-kit/http';
import { callerOf } from '@ecf/service-kit/security';

/** The caller of a public route, as the gateway states it. */
export interface PublicCaller {
  readonly env: Environment;
  /** Network address; null if the gateway did not send it. */
  readonly sender: string | null;
  /** Quotas count by this network: an IPv4 address or an IPv6 /48. */
  readonly network: string;
}

export function publicCaller(req: IncomingMessage): PublicCaller {
  const caller = callerOf(req);
  if (caller.kind !== 'public') throw new TypeError(`a public caller was expected, not ${caller.kind}`);
  const { env, sender } = caller;
  return { env, sender: sender ?? null, network: senderSite(sender ?? 'unknown') };
}
