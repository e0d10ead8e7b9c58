import type { Answer } from '../answers/answer.js';
import type { DirectoryEntry } from '../answers/verdicts.js';
import { readDirectoryEntry } from '../readers/read-directory.js';
import { type AuthorisedInput, type AuthorityContext, bearer, callAuthority } from '../transport/authority-call.js';

export interface FindInDirectoryInput extends AuthorisedInput {
  rnc: string;
}

/** One taxpayer of the directory, null if the authority lists none (contract section 11). Not in CerteCF. */
export function findInDirectory(
  context: AuthorityContext,
  input: FindInDirectoryInput,
): Promise<Answer<DirectoryEntry | null>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'findInDirectory',
      service: 'consultadirectorio',
      path: 'api/consultas/obtenerdirectorioporrnc',
      query: { RNC: input.rnc },
      authorization: bearer(input.token),
    },
    readDirectoryEntry({ rnc: input.rnc }),
  );
}
