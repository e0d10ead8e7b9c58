import type { Answer } from '../answer.js';
import {
  type AuthorisedInput,
  type AuthorityContext,
  bearer,
  callAuthority,
  type SignedDocument,
} from '../authority-call.js';
import { readCancellation } from '../readers/read-cancellation.js';
import type { CancellationVerdict } from '../verdicts.js';

export interface SubmitCancellationInput extends AuthorisedInput {
  issuerRnc: string;
  /** The signed ANECF. */
  xml: SignedDocument;
}

/** Annuls ranges of numbers (contract section 10). Not in CerteCF. No file name rule is published for it. */
export function submitCancellation(
  context: AuthorityContext,
  input: SubmitCancellationInput,
): Promise<Answer<CancellationVerdict>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'submitCancellation',
      service: 'anulacionrangos',
      path: 'api/operaciones/anularrango',
      file: { filename: `${input.issuerRnc}.xml`, content: input.xml },
      authorization: bearer(input.token),
    },
    readCancellation({ rnc: input.issuerRnc }),
  );
}
