import type { Answer } from '../answers/answer.js';
import type { AuthorityVerdict } from '../answers/verdicts.js';
import { readDecision } from '../readers/read-verdict.js';
import {
  type AuthorisedInput,
  type AuthorityContext,
  bearer,
  callAuthority,
  type SignedDocument,
} from '../transport/authority-call.js';
import { documentFileName } from '../transport/multipart.js';

export interface SubmitConsumerSummaryInput extends AuthorisedInput {
  issuerRnc: string;
  encf: string;
  /** The signed RFCE. */
  xml: SignedDocument;
}

/**
 * Hands in the summary (RFCE) of a type 32 under 250,000 (contract section 5). The verdict comes at once, a rejection
 * also with status 400. An answer that decides nothing, or is about another number, is `unknown`.
 */
export function submitConsumerSummary(
  context: AuthorityContext,
  input: SubmitConsumerSummaryInput,
): Promise<Answer<AuthorityVerdict>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'submitConsumerSummary',
      service: 'recepcionfc',
      path: 'api/recepcion/ecf',
      taxpayer: input.issuerRnc,
      file: { filename: documentFileName(input.issuerRnc, input.encf), content: input.xml },
      authorization: bearer(input.token),
    },
    readDecision({ rnc: input.issuerRnc, encf: input.encf }),
  );
}
