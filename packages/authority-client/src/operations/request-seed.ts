import type { Answer } from '../answers/answer.js';
import type { Seed } from '../answers/verdicts.js';
import { readSeed } from '../login/read-seed.js';
import { type AuthorityContext, type AuthorityInput, callAuthority } from '../transport/authority-call.js';

/** Requests a seed to sign (contract section 2.1). No authentication. */
export function requestSeed(context: AuthorityContext, input: AuthorityInput): Promise<Answer<Seed>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'requestSeed',
      service: 'autenticacion',
      path: 'api/autenticacion/semilla',
      accept: 'application/xml, text/xml;q=0.9, */*;q=0.5',
    },
    readSeed,
  );
}
