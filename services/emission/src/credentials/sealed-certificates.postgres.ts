import { requestCertificate, type SealingKeys } from '@ecf/kit';
import { type Database, type SealedValues, sealedRows } from '@ecf/postgres';

/** Certificates that came with requests, to be sealed anew. */
export function sealedRequestCertificates(database: Database, sealingKeys: SealingKeys): SealedValues {
  return sealedRows<{ account_id: string; issuer_rnc: string }>(database, sealingKeys, {
    table: 'sealed_certificate',
    column: 'sealed',
    select: 'e.account_id, e.issuer_rnc FROM sealed_certificate t JOIN emission e ON e.id = t.emission_id',
    bindingOf: ({ account_id, issuer_rnc }) => requestCertificate(account_id, issuer_rnc),
  });
}
