import { mayExist, QueryError } from './errors.js';
import type { Ports } from './ports.js';

/** The account that asks, and how much of its taxpayers it may expect to be known. */
export interface Asker {
  readonly accountId: string;
  /** The latest revision of the account's taxpayers that the gateway committed before the call. */
  readonly taxpayersRevision: number;
}

type AccountPorts = Pick<Ports, 'taxpayers' | 'taxpayerSource' | 'observer'>;

/** The RNCs of an account; where the gateway could not be asked, some of the caller's latest changes may be missing. */
export interface AccountRncs {
  readonly rncs: readonly string[];
  readonly current: boolean;
}

/** The RNCs of an account, as of the caller's latest change. */
export async function accountRncs(ports: AccountPorts, asker: Asker): Promise<AccountRncs> {
  const known = await ports.taxpayers.account(asker.accountId);
  if (known.revision >= asker.taxpayersRevision || ports.taxpayerSource === null)
    return { rncs: known.rncs, current: true };
  try {
    const fresh = await ports.taxpayerSource.account(asker.accountId);
    await ports.taxpayers.replaceAccount(fresh);
    return { rncs: fresh.taxpayers.map(({ rnc }) => rnc), current: true };
  } catch (error) {
    ports.observer.failed('asking the gateway for an account', error);
    return { rncs: known.rncs, current: false };
  }
}

/** Refuses an RNC that is not the account's, as if it did not exist. */
export async function requireTaxpayer(ports: AccountPorts, asker: Asker, rnc: string): Promise<void> {
  const { rncs, current } = await accountRncs(ports, asker);
  if (rncs.includes(rnc)) return;
  if (!current) throw mayExist(`whether ${rnc} is a taxpayer of this account`);
  throw new QueryError(
    'taxpayer_not_found',
    `${rnc} is not a taxpayer of this account; use one of its own, or register it.`,
  );
}
