import { mayActFor, type TaxpayerState } from '@ecf/contracts';
import type { TaxpayerSource } from '@ecf/http';
import type { Identity } from '@ecf/http/identity';
import type { TaxpayerReplica } from './taxpayer-replica.js';

/** The calling account, from the gateway's signed identity. */
export interface Caller {
  readonly accountId: string;
  /** The latest revision of the account's taxpayers that the gateway committed before the call. */
  readonly taxpayersRevision: number;
  /** RNCs that the key of the call is limited to; absent = all of the account. Others do not exist for the caller. */
  readonly taxpayers?: readonly string[] | undefined;
  /** The key and the request of the call; absent if another service calls. */
  readonly keyId?: string | undefined;
  readonly requestId?: string | undefined;
}

type IdentityParts = Pick<Identity, 'account_id' | 'taxpayers_revision' | 'taxpayers' | 'key_id'> & {
  readonly request_id?: string;
};

/** The caller that the signed identity names. */
export function accountCaller(identity: IdentityParts): Caller {
  const { account_id, taxpayers_revision, taxpayers, key_id, request_id } = identity;
  return {
    accountId: account_id,
    taxpayersRevision: taxpayers_revision,
    taxpayers,
    keyId: key_id,
    requestId: request_id,
  };
}

export interface AccountPorts {
  readonly taxpayers: Pick<TaxpayerReplica, 'account' | 'replaceAccount'>;
  /** Null if the deployment has no gateway to query. */
  readonly source: Pick<TaxpayerSource, 'account'> | null;
  readonly observer: { failed(what: string, error: unknown): void };
}

/** The taxpayers of an account. `current` is false if the caller's latest changes may be missing. */
export interface KnownAccount {
  readonly taxpayers: readonly TaxpayerState[];
  readonly current: boolean;
}

/**
 * Reads the taxpayers of an account that the caller may act for. Queries the gateway first if the replica lacks a change of
 * the caller, so that the next request finds a new taxpayer.
 */
export async function readAccount(ports: AccountPorts, caller: Caller): Promise<KnownAccount> {
  const { taxpayers, current } = await readWholeAccount(ports, caller);
  return { taxpayers: taxpayers.filter(({ rnc }) => mayActFor(caller, rnc)), current };
}

async function readWholeAccount(ports: AccountPorts, caller: Caller): Promise<KnownAccount> {
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
