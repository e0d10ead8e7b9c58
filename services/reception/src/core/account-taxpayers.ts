import type { AccountTaxpayers } from '@ecf/contracts';
import { ReceptionError } from './errors.js';
import type { Ports } from './ports.js';

/** The account that asks, and how much of its taxpayers it may expect to be known. */
export interface Asker {
  readonly accountId: string;
  /** The latest revision of the account's taxpayers that the gateway committed before the call. */
  readonly taxpayersRevision: number;
}

/** The RNCs of an account, as of the caller's latest change. */
export async function accountRncs(
  ports: Pick<Ports, 'taxpayers' | 'source' | 'observer'>,
  asker: Asker,
): Promise<string[]> {
  let account = await ports.taxpayers.account(asker.accountId);
  if (account.revision < asker.taxpayersRevision && ports.source !== null) {
    account = await refresh(ports, asker, account);
  }
  return account.taxpayers.map((taxpayer) => taxpayer.rnc);
}

/** Refuses an RNC that is not the account's, as if it did not exist. */
export async function requireTaxpayer(
  ports: Pick<Ports, 'taxpayers' | 'source' | 'observer'>,
  asker: Asker,
  rnc: string,
): Promise<void> {
  if ((await accountRncs(ports, asker)).includes(rnc)) return;
  throw new ReceptionError('not_found', `${rnc} is not a taxpayer of this account.`, 'taxpayer');
}

async function refresh(
  ports: Pick<Ports, 'taxpayers' | 'source' | 'observer'>,
  asker: Asker,
  known: AccountTaxpayers,
): Promise<AccountTaxpayers> {
  try {
    const fresh = await ports.source?.account(asker.accountId);
    if (fresh === undefined) return known;
    await ports.taxpayers.replaceAccount(fresh);
    return fresh;
  } catch (error) {
    ports.observer.failed('asking the gateway for an account', error);
    return known;
  }
}
