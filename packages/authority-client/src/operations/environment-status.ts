import type { Answer } from '../answers/answer.js';
import type { EnvironmentStatus } from '../answers/verdicts.js';
import { STATUS_ENVIRONMENT_NUMBERS } from '../endpoints.js';
import { readEnvironmentStatus } from '../readers/read-status.js';
import { type AuthorityContext, callAuthority } from '../transport/authority-call.js';
import { apiKey, type StatusInput } from './service-status.js';

/** Whether one environment is up; unavailable means inside a maintenance window (contract section 14). */
export function environmentStatus(context: AuthorityContext, input: StatusInput): Promise<Answer<EnvironmentStatus>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'environmentStatus',
      service: 'estatusservicios',
      path: 'verificarestado',
      query: { ambiente: STATUS_ENVIRONMENT_NUMBERS[input.env] },
      authorization: apiKey(input.statusKey),
    },
    readEnvironmentStatus,
  );
}
