import type { TaxpayerState } from '@ecf/contracts';
import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { TaxpayerReplica } from './taxpayer-replica.js';

/** The account that calls, as the gateway vouches for it. */
export interface Caller {
  readonly accountId: string;
  /** The latest revision of the account's taxpayers that the gateway committed before the call. */
  readonly taxpayersRevision: number;
}

export interface AccountPorts {
  readonly taxpayers: Pick<TaxpayerReplica, 'account' | 'replaceAccount'>;
  /** Null where the deployment has no gateway to query. */
  readonly source: Pick<TaxpayerSource, 'account'> | null;
  readonly observer: { failed(what: string, error: unknown): void };
}

/** The taxpayers of an account. `current` is false where the caller's latest changes may be missing. */
export interface KnownAccount {
  readonly taxpayers: readonly TaxpayerState[];
  readonly current: boolean;
}

/**
 * Reads the taxpayers of an account. Queries the gateway first where the replica lacks a change that the caller already
 * made, so that a taxpayer registered a moment ago is known to the next request.
 */
export async function readAccount(ports: AccountPorts, caller: Caller): Promise<KnownAccount> {
  const known = await ports.taxpayers.account(caller.accountId);
  if (known.revision >= caller.taxpayersRevision || ports.source === null) {
    return { taxpayers: known.taxpayers, current: true };
  }
  try {
    const fresh = await ports.source.account(caller.accountId);
    await ports.taxpayers.replaceAccount(fresh);
    return { taxpayers: fresh.taxpayers, current: true };
  } catch (error) {
    ports.observer.failed('reading an account from the gateway', error);
    return { taxpayers: known.taxpayers, current: false };
  }
}
