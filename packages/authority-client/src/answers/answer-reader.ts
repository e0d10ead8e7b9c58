import type { RefusalCode, UnknownCause } from './answer.js';
import type { AnswerValue } from './answer-value.js';

/**
 * An answer that came whole: status below 500, no redirect, neither 408 nor 429; 401 for logins only. An operation whose
 * verdicts count whatever the status reads every one.
 */
export interface ReadableAnswer {
  status: number;
  contentType: string | null;
  bytes: Uint8Array;
  /** The body decoded, without BOM. */
  text: string;
  /** The body as JSON or XML; undefined if it is neither. */
  value: AnswerValue | undefined;
}

/** Reads an answer for an operation; null if it is not an answer of that service. */
export type Reading<V> =
  | { verdict: V }
  | { refused: RefusalCode; reason: string }
  | { unknown: UnknownCause; detail: string }
  | null;

export type AnswerReader<V> = (answer: ReadableAnswer) => Reading<V>;
