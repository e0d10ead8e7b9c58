import type { Answer } from '../answers/answer.js';
import type { ApprovalDeliveryAnswer } from '../answers/verdicts.js';
import { readApprovalDelivery } from '../readers/read-approval-delivery.js';
import type { SignedDocument } from '../transport/authority-call.js';
import { documentFileName } from '../transport/multipart.js';
import { callReceiver, type ReceiverContext, type ReceiverInput } from './receiver-call.js';

export interface DeliverApprovalInput extends ReceiverInput {
  /** Only for issuers that published an authentication address. */
  token?: string | undefined;
  buyerRnc: string;
  encf: string;
  /** The signed ACECF. */
  xml: SignedDocument;
}

/** Delivers a commercial approval to the issuer: taken with status 200, not taken with 400, the body is free. */
export function deliverApproval(
  context: ReceiverContext,
  input: DeliverApprovalInput,
): Promise<Answer<ApprovalDeliveryAnswer>> {
  return callReceiver(
    context,
    input,
    {
      operation: 'deliverApproval',
      path: 'fe/aprobacioncomercial/api/ecf',
      token: input.token,
      file: { filename: documentFileName(input.buyerRnc, input.encf), content: input.xml },
    },
    readApprovalDelivery,
  );
}
