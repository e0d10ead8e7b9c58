import type { TaxpayerState } from '@ecf/contracts';
import { type AccountPorts, type Caller, readAccount } from '@ecf/taxpayer-replica';
import { mayExist, QueryError } from './errors.js';

/** A taxpayer of the caller's account. Refuses another RNC as if it did not exist. */
export async function requireTaxpayer(ports: AccountPorts, caller: Caller, rnc: string): Promise<TaxpayerState> {
  const { taxpayers, current } = await readAccount(ports, caller);
  const found = taxpayers.find((taxpayer) => taxpayer.rnc === rnc);
  if (found !== undefined) return found;
  if (!current) throw mayExist(`whether ${rnc} is a taxpayer of this account`);
  throw new QueryError(
    'taxpayer_not_found',
    `${rnc} is not a taxpayer of this account; use an RNC of the account, or register it.`,
  );
}
