import type { Operation } from '../operation.js';
import type { Verdict } from '../verdicts/verdict.js';

/**
 * The faults that a test or user can request.
 *
 * | kind | the caller sees | noted |
 * |---|---|---|
 * | timeout | no answer, ever | no |
 * | timeout-after | no answer, ever | yes |
 * | reset | the connection cut after its request was read | no |
 * | reset-after | the connection cut instead of the answer | yes |
 * | http | the given status and body | no |
 * | slow | the answer after `delay_ms` | yes |
 * | processing | `En Proceso` until the fault is deleted | yes |
 * | verdict | the given verdict | yes |
 * | down | the connection cut before its request is read | no |
 */
export const FAULT_KINDS = [
  'timeout',
  'timeout-after',
  'reset',
  'reset-after',
  'http',
  'slow',
  'processing',
  'verdict',
  'down',
] as const;

export type FaultKind = (typeof FAULT_KINDS)[number];

export interface Fault {
  readonly id: string;
  readonly operation: Operation | '*';
  readonly kind: FaultKind;
  /** How many more calls it hits; null: no limit. */
  times: number | null;
  /** Probability that it hits a call. */
  readonly rate: number;
  /** Answer of kind `http`. */
  readonly status: number;
  readonly body: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly delayMs: number;
  /** For kind `verdict`. */
  readonly verdict: Verdict | null;
}

/** A fault of the document or its verdict, as opposed to one of the connection. */
export type DocumentFault =
  | { readonly kind: 'processing'; readonly id: string }
  | { readonly kind: 'verdict'; readonly verdict: Verdict };
