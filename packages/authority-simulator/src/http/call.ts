import type { IncomingHttpHeaders } from 'node:http';
import type { Environment } from '@ecf/domain';
import type { DocumentFault } from '../faults/fault.js';
import type { Submission } from '../ledger/submission.js';

/** A call as the operations see it: the body is complete, the token is checked. */
export interface Call {
  readonly query: Query;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** The document in a multipart body; null: the body has no file part `xml`; an answer: the body cannot be read. */
  readonly upload: Upload | Answer | null;
  readonly env: Environment;
  /** Holder of the certificate that logged in; null if the operation needs no token. */
  readonly holder: string | null;
  /** The effect that the control interface demands on the document or verdict of this call. */
  readonly fault: DocumentFault | null;
}

/** Query parameters; names count in any case, as on the authority's servers. */
export class Query {
  readonly #values: readonly (readonly [name: string, value: string])[];

  /** @param url a request target */
  constructor(url: string) {
    const search = new URLSearchParams(url.includes('?') ? url.slice(url.indexOf('?')) : '');
    this.#values = [...search].map(([name, value]) => [name.toLowerCase(), value]);
  }

  /** The first non-empty value under one of the names (lower case), or null. */
  get(...names: string[]): string | null {
    for (const wanted of names)
      for (const [name, value] of this.#values) if (name === wanted && value !== '') return value;
    return null;
  }
}

/** The file part `xml` of a call. */
export interface Upload {
  readonly filename: string;
  readonly bytes: Buffer;
}

export function isUpload(value: Upload | Answer): value is Upload {
  return 'bytes' in value;
}

/** The answer. A structured body is written as JSON or XML, as the caller accepts. */
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

/** A call whose token is checked, to its answer. */
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

/** The authority's front end answers a body that it cannot read with HTML. */
export const HTML_REFUSAL: Answer = textAnswer(
  400,
  '<html><head><title>ERROR</title></head><body>ERROR:</body></html>',
  'text/html; charset=utf-8',
);
