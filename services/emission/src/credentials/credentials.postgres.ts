import { createHttpTaxpayerSource } from '@ecf/http';
import type { Identities } from '@ecf/http/identity';
import { requestCertificate, type SealingKeys } from '@ecf/kit';
import { type Database, type SealedValues, sealedRows } from '@ecf/postgres';
import type { RecordCertificateUse, TaxpayerReplica } from '@ecf/taxpayer-replica';
import { createCertificateUses } from '@ecf/taxpayer-replica/certificate-uses';
import { createTaxpayerReplica } from '@ecf/taxpayer-replica/postgres';
import type { EmissionConfig } from '../config.js';
import { retryWhileUnavailable } from '../errors.postgres.js';
import { ACTS } from '../published/changed-events.js';
import type { AccountSource } from './ports.js';

/** The taxpayer replica. Reads for a caller wait up to `timeoutMs` for a database that cannot be reached. */
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

/** Records uses of certificates. Waits up to `timeoutMs` for a database that cannot be reached. */
export function createRetryingCertificateUses(
  { database, clock }: { readonly database: Database; readonly clock: () => Date },
  timeoutMs: number,
): RecordCertificateUse {
  const record = createCertificateUses({ database, acts: ACTS, clock });
  return (use) => retryWhileUnavailable(timeoutMs, () => record(use));
}

/** Fetches accounts from the gateway. */
export function gatewayAccounts(config: EmissionConfig, identities: Identities): AccountSource {
  const gatewayUrl = config.GATEWAY_URL;
  if (gatewayUrl === undefined) {
    return {
      fetch: () => Promise.reject(new Error('GATEWAY_URL is not set, so changed accounts cannot be fetched')),
    };
  }
  const source = createHttpTaxpayerSource({ gatewayUrl, identities });
  return { fetch: (accountId) => source.account(accountId) };
}

/** Certificates that came with requests, to be sealed anew. */
export function sealedRequestCertificates(database: Database, sealingKeys: SealingKeys): SealedValues {
  return sealedRows<{ account_id: string; issuer_rnc: string }>(database, sealingKeys, {
    table: 'sealed_certificate',
    column: 'sealed',
    select: 'e.account_id, e.issuer_rnc FROM sealed_certificate t JOIN emission e ON e.id = t.emission_id',
    bindingOf: ({ account_id, issuer_rnc }) => requestCertificate(account_id, issuer_rnc),
  });
}
