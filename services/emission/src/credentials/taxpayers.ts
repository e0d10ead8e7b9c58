import { type AccountTaxpayers, mayActFor, type TaxpayerState } from '@ecf/contracts';
import type { Caller, KnownTaxpayer, TaxpayerReplica } from '@ecf/taxpayer-replica';
import { LRUCache } from 'lru-cache';
import { EmissionError } from '../errors.js';
import type { AccountSource } from './ports.js';

export interface Taxpayers {
  /**
   * The active taxpayer of the account that the key may act for, or one that was deactivated after the call came.
   * 404 `taxpayer_not_found` for any other RNC.
   */
  require(caller: Caller, rnc: string): Promise<TaxpayerState>;
  /** All taxpayers of the account that the key may act for, oldest first. */
  list(caller: Caller): Promise<TaxpayerState[]>;
  /** The last known state, for work after the call; inactive taxpayers too. */
  lastKnown(rnc: string): Promise<TaxpayerState | null>;
}

const MAX_TAXPAYERS = 10_000;
/** A batch may run for hours after its identity was signed, and new ranges and certificates count for its lines too. */
const REMEMBERED_MS = 1_000;

/**
 * Reads the taxpayers of an account from memory, then from the replica, then from the gateway. The identity names the
 * latest revision, so a certificate uploaded a moment ago signs the next request.
 */
export function createTaxpayers(taxpayers: TaxpayerReplica, accounts: AccountSource): Taxpayers {
  const memory = new LRUCache<string, KnownTaxpayer>({ max: MAX_TAXPAYERS, ttl: REMEMBERED_MS });

  async function upToDate(caller: Caller, rnc: string): Promise<TaxpayerState | null> {
    const key = `${caller.accountId}:${rnc}`;
    const remembered = memory.get(key);
    if (remembered !== undefined && remembered.revision >= caller.taxpayersRevision) return remembered.taxpayer;
    let known: KnownTaxpayer = await taxpayers.lookUp(caller.accountId, rnc);
    if (known.revision < caller.taxpayersRevision) {
      const account = await fetchAccount(caller);
      known = {
        revision: account.revision,
        taxpayer: account.taxpayers.find((taxpayer) => taxpayer.rnc === rnc) ?? null,
      };
    }
    memory.set(key, known);
    return known.taxpayer;
  }

  async function fetchAccount({ accountId }: Caller): Promise<AccountTaxpayers> {
    let account: AccountTaxpayers;
    try {
      account = await accounts.fetch(accountId);
    } catch (cause) {
      throw new EmissionError('service_unavailable', 'The account cannot be read from the gateway; repeat shortly.', {
        cause,
      });
    }
    await taxpayers.replaceAccount(account);
    return account;
  }

  return {
    async require(caller, rnc) {
      const taxpayer = mayActFor(caller, rnc) ? await upToDate(caller, rnc) : null;
      if (taxpayer !== null) {
        // A deactivation stops new calls only: the lines of a batch keep the identity of its call.
        const isLater = taxpayer.revision > caller.taxpayersRevision;
        if ((taxpayer.active && taxpayer.account_active) || isLater) return taxpayer;
      }
      throw new EmissionError(
        'taxpayer_not_found',
        `${rnc} is not an active taxpayer of this account; register it, or use another RNC.`,
      );
    },
    async list(caller) {
      let account = await taxpayers.account(caller.accountId);
      if (account.revision < caller.taxpayersRevision) account = await fetchAccount(caller);
      const own = account.taxpayers.filter(({ rnc }) => mayActFor(caller, rnc));
      return own.sort(
        (one, other) => Date.parse(one.created_at) - Date.parse(other.created_at) || one.rnc.localeCompare(other.rnc),
      );
    },
    lastKnown: (rnc) => taxpayers.taxpayer(rnc),
  };
}
