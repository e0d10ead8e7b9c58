import type { Answer } from '../answers/answer.js';
import type { ApprovalVerdict } from '../answers/verdicts.js';
import { readApproval } from '../readers/read-approval.js';
import {
  type AuthorisedInput,
  type AuthorityContext,
  bearer,
  callAuthority,
  type SignedDocument,
} from '../transport/authority-call.js';
import { documentFileName } from '../transport/multipart.js';

export interface SubmitCommercialApprovalInput extends AuthorisedInput {
  buyerRnc: string;
  encf: string;
  /** The signed ACECF. */
  xml: SignedDocument;
}

/** Gives the authority its copy of a buyer's decision (contract section 9). Answered at once. */
export function submitCommercialApproval(
  context: AuthorityContext,
  input: SubmitCommercialApprovalInput,
): Promise<Answer<ApprovalVerdict>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'submitCommercialApproval',
      service: 'aprobacioncomercial',
      path: 'api/aprobacioncomercial',
      taxpayer: input.buyerRnc,
      file: { filename: documentFileName(input.buyerRnc, input.encf), content: input.xml },
      authorization: bearer(input.token),
    },
    readApproval({ encf: input.encf }),
  );
}
