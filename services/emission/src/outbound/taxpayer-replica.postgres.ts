import type { Database } from '@ecf/service-kit/postgres';
import { createTaxpayerReplica, type TaxpayerReplica } from '@ecf/taxpayer-replica';
import { retryWhileUnavailable } from './retry-while-unavailable.js';

/** The replica of the taxpayers. Reads on behalf of a caller wait up to `timeoutMs` for a database that cannot be reached. */
export function createRetryingTaxpayerReplica(database: Database, timeoutMs: number): TaxpayerReplica {
  const replica = createTaxpayerReplica(database);
  const retry = <T>(work: () => Promise<T>) => retryWhileUnavailable(timeoutMs, work);
  return {
    ...replica,
    lookUp: (accountId, rnc) => retry(() => replica.lookUp(accountId, rnc)),
    account: (accountId) => retry(() => replica.account(accountId)),
    replaceAccount: (account) => retry(() => replica.replaceAccount(account)),
  };
}
