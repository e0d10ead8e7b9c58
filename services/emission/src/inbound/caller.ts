import type { Identity } from '@ecf/service-kit/security';
import type { Caller } from '@ecf/taxpayer-replica';

/** Who calls, as the gateway vouches for it. */
export function callerOf(identity: Identity): Caller {
  return { accountId: identity.account_id, taxpayersRevision: identity.taxpayers_revision };
}
