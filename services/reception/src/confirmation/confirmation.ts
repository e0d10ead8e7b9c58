import type { AuthorityStatus } from '@ecf/contracts';
import { Decimal, type Environment } from '@ecf/domain';
import type { Origin, StoredBytes } from '../receive/received-document.js';

/** A document about which the authority is queried. */
export interface Confirmation {
  /** Id of the document, received or competing. */
  readonly documentId: number;
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
  readonly buyerRnc: string;
  /** Security code of its own signature. */
  readonly securityCode: string;
  /** Two decimals. */
  readonly totalAmount: string;
  readonly status: QueriedStatus;
  /** How often the authority answered. */
  readonly answers: number;
  /** Queries without answer since the last one. */
  readonly failures: number;
}

/** The possible results of a query. */
export type QueriedStatus = Exclude<AuthorityStatus, 'not_available'>;

/** The authority's state of a number. */
export interface AuthorityState {
  readonly status: string;
  readonly securityCode: string | null;
  readonly totalAmount: string | null;
  readonly buyerRnc: string | null;
}

/**
 * The status of a document after an answer. The number may belong to another document of the issuer: an acceptance counts only
 * if security code, total and buyer are those of this document. Null if the authority has not decided yet.
 */
export function confirmationResult(
  document: Confirmation,
  state: AuthorityState,
): 'confirmed' | 'rejected' | 'unknown' | null {
  switch (state.status) {
    case 'Aceptado':
    case 'AceptadoCondicional':
      return isSame(document, state) ? 'confirmed' : 'unknown';
    case 'Rechazado':
      return state.securityCode === null || state.securityCode === document.securityCode ? 'rejected' : 'unknown';
    case 'EnProceso':
      return null;
    default:
      return 'unknown';
  }
}

function isSame(document: Confirmation, { securityCode, totalAmount, buyerRnc }: AuthorityState): boolean {
  const [own, stated] = [Decimal.parse(document.totalAmount), Decimal.parse(totalAmount ?? '')];
  return (
    securityCode === document.securityCode &&
    own !== null &&
    stated !== null &&
    own.equals(stated) &&
    digits(buyerRnc) === document.buyerRnc
  );
}

function digits(rnc: string | null): string {
  return rnc?.replace(/\D/g, '') ?? '';
}

/** An answer of the authority, to be recorded. */
export interface AnsweredConfirmation {
  readonly documentId: number;
  readonly status: QueriedStatus;
  readonly at: Date;
  /** Time of the next query; null = no more. */
  readonly dueAt: Date | null;
}

/** A document that competes for a number. */
export interface Competitor {
  /** Whether the authority confirmed the document that holds the number. */
  readonly holderConfirmed: boolean;
  readonly accountId: string;
  readonly receivedAt: Date;
  readonly bytes: number;
  /** Null if the bytes were not kept. */
  readonly xml: StoredBytes | null;
  readonly origin: Origin;
}
