import type { Answer } from '../answers/answer.js';
import type { IssuedToken } from '../answers/verdicts.js';
import { readIssuedToken } from '../login/read-issued-token.js';
import type { SignedDocument } from '../transport/authority-call.js';
import { callReceiver, type ReceiverContext, type ReceiverInput } from './receiver-call.js';

export interface ReceiverTokenInput extends ReceiverInput {
  signedSeed: SignedDocument;
}

/** Exchanges a receiver's signed seed for its token. */
export function receiverToken(context: ReceiverContext, input: ReceiverTokenInput): Promise<Answer<IssuedToken>> {
  return callReceiver(
    context,
    input,
    {
      operation: 'receiverToken',
      path: 'fe/autenticacion/api/validacioncertificado',
      file: { filename: 'semilla.xml', content: input.signedSeed },
      login: true,
    },
    readIssuedToken,
  );
}
