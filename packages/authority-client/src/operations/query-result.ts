import type { Answer } from '../answers/answer.js';
import type { AuthorityVerdict } from '../answers/verdicts.js';
import { readVerdict } from '../readers/read-verdict.js';
import { type AuthorisedInput, type AuthorityContext, bearer, callAuthority } from '../transport/authority-call.js';

export interface QueryResultInput extends AuthorisedInput {
  trackId: string;
  /** The document that was submitted under it: an answer that names another one says nothing about this. */
  issuerRnc: string;
  encf: string;
}

/** The verdict on a submitted e-CF by its trackId (contract section 4). */
export function queryResult(context: AuthorityContext, input: QueryResultInput): Promise<Answer<AuthorityVerdict>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'queryResult',
      service: 'consultaresultado',
      path: 'api/consultas/estado',
      taxpayer: input.issuerRnc,
      query: { trackid: input.trackId },
      authorization: bearer(input.token),
    },
    readVerdict({ trackId: input.trackId, rnc: input.issuerRnc, encf: input.encf }),
  );
}
