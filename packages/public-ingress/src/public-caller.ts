import type { IncomingMessage } from 'node:http';
import type { Environment } from '@ecf/domain';
import { requestNames, senderSite } from '@ecf/http';
import { callerOf } from '@ecf/http/identity';

/** The caller of a public route, as the gateway states it. */
export interface PublicCaller {
  readonly env: Environment;
  /** Network address; null if the gateway did not send it. */
  readonly sender: string | null;
  /** Names the call in log lines. */
  readonly call: PublicCall;
}

export interface PublicCall {
  readonly request_id: string;
  readonly trace_id: string;
  readonly sender: string | null;
  readonly env: Environment;
}

export function publicCaller(req: IncomingMessage): PublicCaller {
  const caller = callerOf(req);
  if (caller.kind !== 'public') throw new TypeError(`a public caller was expected, not ${caller.kind}`);
  const { env, sender = null } = caller;
  return { env, sender, call: { ...requestNames(req), sender, env } };
}

/**
 * The name by which quotas count a sender: the holder that its token proves; without a token its network, an IPv4
 * address or an IPv6 /48.
 */
export function quotaSender({ sender }: PublicCaller, tokenHolder: string | null): string {
  return tokenHolder === null ? senderSite(sender ?? 'unknown') : `holder:${tokenHolder}`;
}
