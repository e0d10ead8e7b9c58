import type { Answer } from '../answers/answer.js';
import type { CancellationVerdict } from '../answers/verdicts.js';
import { readCancellation } from '../readers/read-cancellation.js';
import {
  type AuthorisedInput,
  type AuthorityContext,
  bearer,
  callAuthority,
  type SignedDocument,
} from '../transport/authority-call.js';

export interface SubmitCancellationInput extends AuthorisedInput {
  issuerRnc: string;
  /** The signed ANECF. */
  xml: SignedDocument;
}

/** A part that is refused is named, up to a hundred thousand ranges. */
const MAX_ANSWER_BYTES = 16 * 1024 * 1024;

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
      taxpayer: input.issuerRnc,
      file: { filename: `${input.issuerRnc}.xml`, content: input.xml },
      authorization: bearer(input.token),
      maxAnswerBytes: MAX_ANSWER_BYTES,
      maxRawCharacters: MAX_ANSWER_BYTES,
    },
    readCancellation({ rnc: input.issuerRnc }),
  );
}
