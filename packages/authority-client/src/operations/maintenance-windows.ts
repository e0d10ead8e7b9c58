import type { Answer } from '../answers/answer.js';
import type { MaintenanceWindow } from '../answers/verdicts.js';
import { readMaintenanceWindows } from '../readers/read-status.js';
import { type AuthorityContext, callAuthority } from '../transport/authority-call.js';
import { apiKey, type StatusInput } from './service-status.js';

/** Announced maintenance windows of all environments (contract section 14). */
export function maintenanceWindows(
  context: AuthorityContext,
  input: StatusInput,
): Promise<Answer<MaintenanceWindow[]>> {
  return callAuthority(
    context,
    input,
    {
      operation: 'maintenanceWindows',
      service: 'estatusservicios',
      path: 'obtenerventanasmantenimiento',
      authorization: apiKey(input.statusKey),
    },
    readMaintenanceWindows,
  );
}
