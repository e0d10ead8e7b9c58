import type { Answer } from '../answers/answer.js';
import type { TrackIdList } from '../answers/verdicts.js';
import { readTrackIds } from '../readers/read-track-ids.js';
import { type AuthorisedInput, type AuthorityContext, bearer, callAuthority } from '../transport/authority-call.js';

export interface QueryTrackIdsInput extends AuthorisedInput {
  issuerRnc: string;
  encf: string;
}

/** All submissions of an eNCF (contract section 8). Not in CerteCF. */
export function queryTrackIds(context: AuthorityContext, input: QueryTrackIdsInput): Promise<Answer<TrackIdList>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'queryTrackIds',
      service: 'consultatrackids',
      path: 'api/trackids/consulta',
      taxpayer: input.issuerRnc,
      query: { rncemisor: input.issuerRnc, encf: input.encf },
      authorization: bearer(input.token),
    },
    readTrackIds({ rnc: input.issuerRnc, encf: input.encf }),
  );
}
