import type { NumberRange } from '@ecf/contracts';
import type { DocumentSummary, EcfType, Environment } from '@ecf/domain';
import type { TokenSource } from '../credentials/token-source.js';

/** The automatic numbers of one issuer, environment and type. */
export interface Series {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly ecfType: EcfType;
}

/** A document that the authority has under a number, and that a restored database does not have. */
export interface LostDocument {
  readonly encf: string;
  /** Null if the authority rejected it. */
  readonly totalAmount: string | null;
  /** RNC or foreign identification. */
  readonly buyer: string | null;
  /** YYYY-MM-DD. */
  readonly issuedOn: string | null;
}

/** A range with its next number. */
export interface RangePosition {
  readonly first: number;
  readonly next: number;
  /** Included. */
  readonly last: number;
}

/** Automatic numbers after a restore. */
export interface LostNumbers {
  /**
   * Begins to compare the numbers of the series with the authority, unless that runs, and refuses the document that needs one.
   *
   * @throws EmissionError 503 `service_unavailable`, always
   */
  refuse(series: Series, ranges: readonly NumberRange[], tokens: TokenSource): never;
  /**
   * Refuses a sale without number that may have been issued and lost, if its type was not compared with the authority: of type 32, or
   * after an operator stated the next number. Only sales dated up to the day of the restore, for 30 days.
   *
   * @param batchAt when its batch came; null for a single document
   * @throws EmissionError 503 `service_unavailable` for type 32 before an operator has stated the next number; 409 `encf_already_used`
   *   until the operator has confirmed that no sale is sent again, and always for a line of a batch from before the restore
   */
  refuseUnknown(series: Series, summary: DocumentSummary, batchAt: Date | null): Promise<void>;
  /** Numbers of lost documents of the same content, in their order, for 30 days after a restore. */
  alike(series: Series, summary: DocumentSummary): Promise<string[]>;
}

/** What a restored database stores about the numbers that it lost. */
export interface LostNumberStore {
  /** The ranges that were not compared since the restore. */
  positions(series: Series, ranges: readonly NumberRange[]): Promise<RangePosition[]>;
  /** The numbers from `first` to `last` that are used, cancelled or known as lost. */
  taken(series: Series, first: number, last: number): Promise<{ readonly used: number[]; readonly lost: number[] }>;
  save(series: Series, documents: readonly LostDocument[]): Promise<void>;
  /** The automatic numbers of the range continue at `next` or later. */
  release(series: Series, range: RangePosition, next: number): Promise<void>;
  /** What the operator confirmed since the restore when stating the next number; null if no number was stated. */
  statement(series: Series): Promise<{ readonly areSalesCompared: boolean } | null>;
  /** Lost documents of the content, in the order of their numbers, that were not submitted again yet. */
  alike(series: Series, summary: DocumentSummary): Promise<string[]>;
}
