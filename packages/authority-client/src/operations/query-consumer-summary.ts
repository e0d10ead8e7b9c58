import type { Answer } from '../answers/answer.js';
import type { AuthorityVerdict } from '../answers/verdicts.js';
import { readVerdict } from '../readers/read-verdict.js';
import { type AuthorisedInput, type AuthorityContext, bearer, callAuthority } from '../transport/authority-call.js';

export interface QueryConsumerSummaryInput extends AuthorisedInput {
  issuerRnc: string;
  encf: string;
  /** Security code of the full signed e-CF whose summary was submitted. */
  securityCode: string;
}

/** The verdict on a consumer summary (contract section 6). The caller must be a delegate of the issuer. */
export function queryConsumerSummary(
  context: AuthorityContext,
  input: QueryConsumerSummaryInput,
): Promise<Answer<AuthorityVerdict>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'queryConsumerSummary',
      service: 'consultarfce',
      path: 'api/Consultas/Consulta',
      taxpayer: input.issuerRnc,
      query: { RNC_Emisor: input.issuerRnc, ENCF: input.encf, Cod_Seguridad_eCF: input.securityCode },
      authorization: bearer(input.token),
    },
    readVerdict({ rnc: input.issuerRnc, encf: input.encf }),
  );
}
