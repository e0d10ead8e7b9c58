import type { Environment } from '@ecf/domain';
import type { DocumentFault } from '../faults/fault.js';
import type { Submission } from '../ledger/submission.js';

/** A call as the operations see it: the body is complete, the token is checked. */
export interface Call {
  readonly method: string;
  /** Path without query, percent-decoded, in lower case, without a slash at the end. */
  readonly path: string;
  readonly query: Query;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
  readonly env: Environment;
  /** Holder of the certificate that logged in; null if the operation needs no token. */
  readonly holder: string | null;
  /** The effect that the control interface demands on the document or verdict of this call. */
  readonly fault: DocumentFault | null;
}

/** Query parameters; their names are read in any case. */
export interface Query {
  /** The first non-empty value under one of the names (lower case), or null. */
  get(...names: string[]): string | null;
}

/** The answer. A body that is no string or buffer is written as JSON or XML, as the caller accepts. */
export interface Answer {
  readonly status: number;
  readonly body: Buffer | string | Structured;
  /** The content type of a body that is already written. */
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The submission that this call noted, for its `answered`. */
  readonly noted?: Submission;
}

/** A body in the shape of its JSON form; `root` and `item` name the elements of its XML form. */
export interface Structured {
  readonly root: string;
  readonly item?: string;
  readonly value: unknown;
}

export type Handler = (call: Call) => Answer | Promise<Answer>;

export function textAnswer(status: number, text: string, contentType = 'text/plain; charset=utf-8'): Answer {
  return { status, body: text, contentType };
}

/** Many refusals of the authority are a bare JSON string. */
export function sentenceAnswer(status: number, sentence: string): Answer {
  return { status, body: JSON.stringify(sentence), contentType: 'application/json; charset=utf-8' };
}

export function emptyAnswer(status: number, headers: Record<string, string> = {}): Answer {
  return { status, body: '', headers };
}
