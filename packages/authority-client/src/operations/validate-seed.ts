import type { Answer } from '../answers/answer.js';
import type { IssuedToken } from '../answers/verdicts.js';
import { readIssuedToken } from '../login/read-issued-token.js';
import {
  type AuthorityContext,
  type AuthorityInput,
  callAuthority,
  type SignedDocument,
} from '../transport/authority-call.js';

export interface ValidateSeedInput extends AuthorityInput {
  signedSeed: SignedDocument;
}

/**
 * Exchanges a signed seed for a token (contract sections 2.2 and 2.3). `refused` `login_refused` is final for this
 * certificate; a temporary failure of the authority (a timeout of its certificate check) is `unknown`.
 */
export function validateSeed(context: AuthorityContext, input: ValidateSeedInput): Promise<Answer<IssuedToken>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'validateSeed',
      service: 'autenticacion',
      path: 'api/autenticacion/validarsemilla',
      file: { filename: 'semilla.xml', content: input.signedSeed },
      login: true,
    },
    readIssuedToken,
  );
}
