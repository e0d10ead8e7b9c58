import { isRnc } from '../identifiers.js';
import type { SubmissionRoute } from '../submission-route.js';
import { APPROVABLE_TYPES } from './approval-rules.js';

/** What {@link goesToBuyer} looks at. */
export interface DeliverableDocument {
  readonly ecfType: string;
  readonly route: SubmissionRoute;
  readonly buyerRnc: string | null;
}

/**
 * Whether an accepted document is one for its buyer's receiver: those that can be approved, where they name a buyer who can
 * have one. Type 45 is among them and delivered on request only. Source: Descripción Técnica v1.6 pp.11, 42-46.
 */
export function goesToBuyer({ ecfType, route, buyerRnc }: DeliverableDocument): boolean {
  const deliverable = route === 'ecf' && (APPROVABLE_TYPES as readonly string[]).includes(ecfType);
  return deliverable && buyerRnc !== null && isRnc(buyerRnc);
}
