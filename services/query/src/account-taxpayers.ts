import { type AccountPorts, type Caller, readAccount } from '@ecf/taxpayer-replica';
import { mayExist, QueryError } from './errors.js';

/** Refuses an RNC that does not belong to the caller's account, as if it did not exist. */
export async function requireTaxpayer(ports: AccountPorts, caller: Caller, rnc: string): Promise<void> {
  const { taxpayers, current } = await readAccount(ports, caller);
  if (taxpayers.some((taxpayer) => taxpayer.rnc === rnc)) return;
  if (!current) throw mayExist(`whether ${rnc} is a taxpayer of this account`);
  throw new QueryError(
    'taxpayer_not_found',
    `${rnc} is not a taxpayer of this account; use an RNC of the account, or register it.`,
  );
}
