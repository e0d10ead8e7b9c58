import type { Answer } from '../answers/answer.js';
import type { DocumentState } from '../answers/verdicts.js';
import { readDocumentState } from '../readers/read-document-state.js';
import { type AuthorisedInput, type AuthorityContext, bearer, callAuthority } from '../transport/authority-call.js';

export interface QueryStateInput extends AuthorisedInput {
  issuerRnc: string;
  encf: string;
  /** Wanted by the authority where the document has a buyer. */
  buyerRnc?: string | undefined;
  securityCode?: string | undefined;
}

/** The state of a document by its data (contract section 7). Not in CerteCF. */
export function queryState(context: AuthorityContext, input: QueryStateInput): Promise<Answer<DocumentState>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'queryState',
      service: 'consultaestado',
      path: 'api/consultas/estado',
      taxpayer: input.issuerRnc,
      query: {
        rncemisor: input.issuerRnc,
        ncfelectronico: input.encf,
        rnccomprador: input.buyerRnc,
        codigoseguridad: input.securityCode,
      },
      authorization: bearer(input.token),
    },
    readDocumentState({ rnc: input.issuerRnc, encf: input.encf }),
  );
}
