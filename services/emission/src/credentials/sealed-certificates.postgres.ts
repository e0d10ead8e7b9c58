import { type SealedValues, sealedRows } from '@ecf/service-kit/master-keys';
import type { Database } from '@ecf/service-kit/postgres';
import { requestCertificate, type SealingKeys } from '@ecf/service-kit/security';

/** Certificates that came with requests, to be sealed anew. */
export function sealedRequestCertificates(database: Database, sealingKeys: SealingKeys): SealedValues {
  return sealedRows<{ account_id: string; issuer_rnc: string }>(database, sealingKeys, {
    table: 'sealed_certificate',
    column: 'sealed',
    select: 'e.account_id, e.issuer_rnc FROM sealed_certificate t JOIN emission e ON e.id = t.emission_id',
    bindingOf: ({ account_id, issuer_rnc }) => requestCertificate(account_id, issuer_rnc),
  });
}
