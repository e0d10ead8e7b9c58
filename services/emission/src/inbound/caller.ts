import type { Identity } from '@ecf/service-kit/security';
import type { Caller } from '@ecf/taxpayer-replica';

/** The caller, as the signed identity names it. */
export function callerOf(identity: Identity): Caller {
  return { accountId: identity.account_id, taxpayersRevision: identity.taxpayers_revision };
}
