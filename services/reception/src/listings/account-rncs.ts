import { type AccountPorts, type Caller, readAccount } from '@ecf/taxpayer-replica';
import { ReceptionError } from '../errors.js';

export type { Caller } from '@ecf/taxpayer-replica';

/** The RNCs of an account, as of the caller's latest change. */
export async function accountRncs(ports: AccountPorts, caller: Caller): Promise<string[]> {
  return (await readAccount(ports, caller)).taxpayers.map((taxpayer) => taxpayer.rnc);
}

/** Refuses an RNC that is not the account's, as if it did not exist. */
export async function requireTaxpayer(ports: AccountPorts, caller: Caller, rnc: string): Promise<void> {
  if ((await accountRncs(ports, caller)).includes(rnc)) return;
  throw new ReceptionError('not_found', `${rnc} is not a taxpayer of this account.`, 'taxpayer');
}
