import type { Answer } from '../answers/answer.js';
import type { DirectoryEntry } from '../answers/verdicts.js';
import { readDirectory } from '../readers/read-directory.js';
import { type AuthorisedInput, type AuthorityContext, bearer, callAuthority } from '../transport/authority-call.js';

const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;

/** All authorised taxpayers with their receivers' addresses (contract section 11). Not in CerteCF. */
export function listDirectory(context: AuthorityContext, input: AuthorisedInput): Promise<Answer<DirectoryEntry[]>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'listDirectory',
      service: 'consultadirectorio',
      path: 'api/consultas/listado',
      authorization: bearer(input.token),
      maxAnswerBytes: MAX_DIRECTORY_BYTES,
    },
    readDirectory,
  );
}
