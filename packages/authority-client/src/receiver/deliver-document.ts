import type { Answer } from '../answers/answer.js';
import type { DeliveryAnswer } from '../answers/verdicts.js';
import { readAcknowledgement } from '../readers/read-acknowledgement.js';
import type { SignedDocument } from '../transport/authority-call.js';
import { documentFileName } from '../transport/multipart.js';
import { callReceiver, type ReceiverContext, type ReceiverInput } from './receiver-call.js';

export interface DeliverDocumentInput extends ReceiverInput {
  /** Only for receivers that published an authentication address. */
  token?: string | undefined;
  issuerRnc: string;
  encf: string;
  /** The signed e-CF. */
  xml: SignedDocument;
}

/** Delivers an e-CF to its buyer. The answer is the buyer's ARECF, to be verified by the caller. */
export function deliverDocument(
  context: ReceiverContext,
  input: DeliverDocumentInput,
): Promise<Answer<DeliveryAnswer>> {
  return callReceiver(
    context,
    input,
    {
      operation: 'deliverDocument',
      path: 'fe/recepcion/api/ecf',
      token: input.token,
      file: { filename: documentFileName(input.issuerRnc, input.encf), content: input.xml },
      accept: 'application/xml, text/xml;q=0.9, */*;q=0.5',
      anyStatus: true,
    },
    readAcknowledgement,
  );
}
