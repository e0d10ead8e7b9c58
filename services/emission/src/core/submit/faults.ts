import type { Fault } from '@ecf/domain';
import { EmissionError } from '../errors.js';

/** Throws 400 `invalid_document` where there are faults: the authority would reject the document, so no number is used. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const places = faults.slice(0, 3).map(({ path }) => path);
  const more = faults.length > places.length ? ` and ${faults.length - places.length} more` : '';
  const remedy = faults.some(({ path }) => path.endsWith('.eNCF'))
    ? 'correct what faults names and send it under an eNCF that is yours to use'
    : 'correct what faults names and send it again under the same eNCF';
  throw new EmissionError(
    'invalid_document',
    `The document has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`} (${places.join(', ')}${more}); ${remedy}.`,
    { faults },
  );
}
