import type { IncomingHttpHeaders } from 'node:http';
import type { Environment } from '@ecf/domain';
import type { DocumentFault } from '../faults.js';
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

/** A handler of calls that carry a document; `missing` answers a multipart body without one. */
export function documentHandler(
  missing: Answer,
  receive: (call: Call, document: Upload) => Answer | Promise<Answer>,
): Handler {
  return (call) => {
    const { upload } = call;
    if (upload === null) return missing;
    return 'bytes' in upload ? receive(call, upload) : upload;
  };
}

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

const JSON_TYPE = 'application/json; charset=utf-8';
const XML_TYPE = 'application/xml; charset=utf-8';

/**
 * Chooses between JSON and XML by the Accept header. As on the authority's servers, a header with a wildcard, or none,
 * means JSON.
 */
export function prefersXml(accept: string | string[] | undefined): boolean {
  const header = (Array.isArray(accept) ? accept.join(',') : (accept ?? '')).toLowerCase();
  if (header === '' || header.includes('*/*')) return false;
  const xml = header.search(/(application|text)\/xml/);
  const json = header.search(/(application|text)\/json/);
  return xml >= 0 && (json < 0 || xml < json);
}

/** Writes a structured body in the wanted form. */
export function represent(body: Structured, xml: boolean): { text: string; contentType: string } {
  if (!xml) return { text: JSON.stringify(body.value), contentType: JSON_TYPE };
  const root = Array.isArray(body.value) && body.item ? listOf(body.root, body.item, body.value) : null;
  const text = root ?? element(body.root, body.value, body.item);
  return { text: `<?xml version="1.0" encoding="utf-8"?>${text}`, contentType: XML_TYPE };
}

function listOf(root: string, item: string, values: readonly unknown[]): string {
  return `<${root}>${values.map((value) => element(item, value)).join('')}</${root}>`;
}

/** Null members are left out, lists repeat their element, as the serialiser of the authority's platform does. */
function element(name: string, value: unknown, item?: string): string {
  if (value === null || value === undefined) return '';
  if (Array.isArray(value)) return value.map((entry) => element(name, entry, item)).join('');
  if (typeof value === 'object') {
    const inner = Object.entries(value).map(([key, entry]) => element(key, entry, item));
    return `<${name}>${inner.join('')}</${name}>`;
  }
  return `<${name}>${escapeXml(String(value))}</${name}>`;
}

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
