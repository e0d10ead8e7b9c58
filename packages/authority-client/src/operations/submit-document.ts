import type { Answer } from '../answers/answer.js';
import type { SubmissionReceipt } from '../answers/verdicts.js';
import { readReceipt } from '../readers/read-receipt.js';
import {
  type AuthorisedInput,
  type AuthorityContext,
  bearer,
  callAuthority,
  type SignedDocument,
} from '../transport/authority-call.js';
import { documentFileName } from '../transport/multipart.js';

export interface SubmitDocumentInput extends AuthorisedInput {
  issuerRnc: string;
  encf: string;
  xml: SignedDocument;
}

/**
 * Hands in a full e-CF, any type but a 32 under 250,000 (contract section 3). The receipt carries the trackId; the
 * verdict on the content comes later through `queryResult`.
 */
export function submitDocument(
  context: AuthorityContext,
  input: SubmitDocumentInput,
): Promise<Answer<SubmissionReceipt>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'submitDocument',
      service: 'recepcion',
      path: 'api/facturaselectronicas',
      taxpayer: input.issuerRnc,
      file: { filename: documentFileName(input.issuerRnc, input.encf), content: input.xml },
      authorization: bearer(input.token),
    },
    readReceipt,
  );
}
