import type { Environment } from '@ecf/domain';
import { IN_PROCESS, type Verdict } from '../verdicts/verdict.js';

/** Operations whose documents are kept. */
type DocumentOperation = 'recepcion' | 'recepcionfc' | 'aprobacioncomercial' | 'anulacionrangos';

/** Which document a note (33, 34) modifies, and the note's own total. */
export interface Reference {
  readonly rnc: string;
  readonly encf: string;
  readonly total: string;
}

/** Annulled numbers, `from` to `to` of one type. */
export interface AnnulledRange {
  readonly type: string;
  readonly from: number;
  readonly to: number;
}

/** Where the journal keeps an entry: offset and length of its line. */
export interface Place {
  readonly offset: number;
  readonly length: number;
}

/** A received document with its outcome. */
export interface Submission {
  readonly id: number;
  readonly operation: DocumentOperation;
  readonly env: Environment;
  /** Issuer of the e-CF that the document is or names; null if it is unreadable. */
  readonly rnc: string | null;
  /** The approving buyer, for an approval. */
  readonly buyer: string | null;
  readonly encf: string | null;
  readonly filename: string;
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly receivedAt: number;
  readonly trackId: string | null;
  readonly verdict: Verdict;
  /** From when on the verdict is seen, in milliseconds since the epoch. */
  readonly decidedAt: number;
  /** The fault that keeps it in process. */
  heldBy: string | null;
  /** It counts for its number: see docs/authority-simulator.md. */
  readonly effective: boolean;
  /** The caller got an answer. */
  answered: boolean;
  readonly reference: Reference | null;
  /** The numbers that a cancellation annulled. */
  readonly annulled: readonly AnnulledRange[] | null;
  /** Where the journal has its bytes. */
  readonly place: Place;
}

/** A document to note. Omitted fields are null; it is decided on arrival unless `decidedAt` is later. */
export type NewSubmission = Pick<
  Submission,
  'operation' | 'env' | 'filename' | 'receivedAt' | 'verdict' | 'effective'
> &
  Partial<Omit<Submission, 'id' | 'sha256' | 'answered' | 'place'>>;

/** The authority's status of the document at a moment. */
export function presentVerdict(submission: Submission, now: number): Verdict {
  return isDecided(submission, now) ? submission.verdict : IN_PROCESS;
}

export function isDecided(submission: Submission, now: number): boolean {
  return submission.heldBy === null && now >= submission.decidedAt;
}
