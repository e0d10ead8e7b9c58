import type { AuthorityStatus } from '@ecf/contracts';
import { Decimal, type Environment } from '@ecf/domain';
import type { Selectable } from 'kysely';
import type { Confirmation as ConfirmationTable } from '../generated/tables.js';

type Row = Selectable<ConfirmationTable>;

/** A document about which the authority is queried: a row of `confirmations`. */
export type Confirmation = Readonly<
  Pick<
    Row,
    'documentId' | 'issuerRnc' | 'encf' | 'buyerRnc' | 'securityCode' | 'totalAmount' | 'answers' | 'failures'
  > & { env: Environment; status: QueriedStatus }
>;

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
  readonly xmlPath: string | null;
  readonly sha256: string;
  readonly requestId: string;
  readonly sender: string | null;
}

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/** Time from the acknowledgement to the first query. Many issuers send to the authority and to the buyer at the same time. */
export const FIRST_QUERY_MS = 2 * SECOND;
const FIRST_PAUSE_MS = 5 * SECOND;
/** The longest pause between two queries, in milliseconds. */
export const LONGEST_PAUSE_MS = 2 * HOUR;
/** Longest pause while the authority gives no answer. */
const LONGEST_OUTAGE_PAUSE_MS = 300 * SECOND;
/** Contingency gives an issuer this time to send its documents. */
const QUERIED_MS = 72 * HOUR;

/**
 * Milliseconds to the next query of a document that the authority does not know. Null after 72 hours: pauses count, so time in
 * which the authority gives no answer does not.
 *
 * @param answers how often the authority answered that it does not know the document
 */
export function pauseAfterAnswer(answers: number): number | null {
  let waited = 0;
  for (let past = 1; past < answers; past++) waited += pause(past, LONGEST_PAUSE_MS);
  return waited >= QUERIED_MS ? null : pause(answers, LONGEST_PAUSE_MS);
}

/** Milliseconds to the next query after `failures` queries without an answer. */
export function pauseAfterFailure(failures: number): number {
  return pause(failures, LONGEST_OUTAGE_PAUSE_MS);
}

function pause(count: number, longest: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.min(count - 1, 20), longest);
}
