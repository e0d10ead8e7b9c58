import { type AccountPorts, type Asker, accountTaxpayers } from '@ecf/taxpayer-copy';
import { ReceptionError } from './errors.js';

export type { Asker } from '@ecf/taxpayer-copy';

/** The RNCs of an account, as of the caller's latest change. */
export async function accountRncs(ports: AccountPorts, asker: Asker): Promise<string[]> {
  return (await accountTaxpayers(ports, asker)).map((taxpayer) => taxpayer.rnc);
}

/** Refuses an RNC that is not the account's, as if it did not exist. */
export async function requireTaxpayer(ports: AccountPorts, asker: Asker, rnc: string): Promise<void> {
  if ((await accountRncs(ports, asker)).includes(rnc)) return;
  throw new ReceptionError('not_found', `${rnc} is not a taxpayer of this account.`, 'taxpayer');
}
