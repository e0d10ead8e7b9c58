import type { Answer } from '../answer.js';
import type { SignedDocument } from '../authority-call.js';
import { readIssuedToken } from '../login/read-issued-token.js';
import type { IssuedToken } from '../verdicts.js';
import { callReceiver, type ReceiverContext, type ReceiverInput } from './receiver-call.js';

export interface ReceiverTokenInput extends ReceiverInput {
  signedSeed: SignedDocument;
}

/** Trades a receiver's signed seed for its token. */
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
