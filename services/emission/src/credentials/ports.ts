import type { AccountTaxpayers } from '@ecf/contracts';
import type { SealingKeys } from '@ecf/kit';

/** Fetches an account that changed a moment ago from the gateway. */
export interface AccountSource {
  fetch(accountId: string): Promise<AccountTaxpayers>;
}

/** Seals under the deployment's master keys. A value opens only for what it was sealed for. */
export type Sealer = Pick<SealingKeys, 'seal' | 'unseal'>;
