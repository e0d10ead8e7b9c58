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

/** Automatic numbers after a restore. */
export interface LostNumbers {
  /**
   * Begins to compare the numbers of the series with the authority, unless that runs, and refuses the document that needs one.
   *
   * @throws EmissionError 503 `service_unavailable`, always
   */
  refuse(series: Series, ranges: readonly NumberRange[], tokens: TokenSource): never;
  /** Numbers of lost documents of the same content, in their order, for 30 days after a restore. */
  alike(series: Series, summary: DocumentSummary): Promise<string[]>;
}

/** What a restored database stores about the numbers that it lost. */
export interface LostNumberStore {
  /** The next number of each range; the end of the range is included. */
  positions(
    series: Series,
    ranges: readonly NumberRange[],
  ): Promise<{ readonly next: number; readonly last: number }[]>;
  /** The numbers from `first` to `last` that are used, cancelled or known as lost. */
  taken(series: Series, first: number, last: number): Promise<{ readonly used: number[]; readonly lost: number[] }>;
  save(series: Series, documents: readonly LostDocument[]): Promise<void>;
  /** Automatic numbers continue at `next` or later. */
  release(series: Series, next: number): Promise<void>;
  /** Lost documents of the content, in the order of their numbers, that were not submitted again yet. */
  alike(series: Series, summary: DocumentSummary): Promise<string[]>;
}
