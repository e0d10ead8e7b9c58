import type { Answer } from '../answers/answer.js';
import type { ServiceStatus } from '../answers/verdicts.js';
import { readServiceStatus } from '../readers/read-status.js';
import { type AuthorityContext, type AuthorityInput, callAuthority } from '../transport/authority-call.js';

/** `statusKey` is issued by the authority on request; it has nothing to do with tokens and certificates. */
export interface StatusInput extends AuthorityInput {
  statusKey: string;
}

/** Header value for the status host (contract section 14). */
export function apiKey(statusKey: string): string {
  return `Apikey ${statusKey}`;
}

/** Which of the authority's services are up. The answer covers all environments that it reports (not CerteCF). */
export function serviceStatus(context: AuthorityContext, input: StatusInput): Promise<Answer<ServiceStatus[]>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'serviceStatus',
      service: 'estatusservicios',
      path: 'obtenerestatus',
      authorization: apiKey(input.statusKey),
    },
    readServiceStatus,
  );
}
