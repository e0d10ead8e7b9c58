import type { IncomingMessage } from 'node:http';
import type { Environment } from '@ecf/domain';
import { callerOf } from '@ecf/service-kit';

/** Environment and network address of who calls a public route, as the gateway vouches for them. */
export function publicCaller(req: IncomingMessage): { env: Environment; sender: string | null } {
  const caller = callerOf(req);
  if (caller.kind !== 'public') throw new TypeError(`a public caller was expected, not ${caller.kind}`);
  return { env: caller.env, sender: caller.sender ?? null };
}
