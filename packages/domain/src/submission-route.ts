import { Decimal } from './amounts/decimal.js';
import type { EcfType } from './identifiers.js';

/** `ecf`: the full document goes to the authority; `rfce`: its consumer summary does, the full one stays with the issuer. */
export type SubmissionRoute = 'ecf' | 'rfce';

/** Type 32 below this total (DOP) travels as a summary. Source: Descripción Técnica v1.6 pp.11, 13; Formato RFCE v1.0 p.2. */
export const SUMMARY_LIMIT = Decimal.of('250000.00');

/** Whether a total is below the limit; false for text that is not a decimal. */
export function isBelowSummaryLimit(montoTotal: string): boolean {
  const total = Decimal.parse(montoTotal);
  return total !== null && total.compare(SUMMARY_LIMIT) < 0;
}

/** The way a document of this type and MontoTotal goes to the authority. Exactly 250,000.00 is a full document. */
export function submissionRoute(type: EcfType, montoTotal: string): SubmissionRoute {
  return type === '32' && isBelowSummaryLimit(montoTotal) ? 'rfce' : 'ecf';
}
