/** One part of a multipart/form-data body (RFC 7578). */
export interface Part {
  readonly name: string;
  /** Null for a form field; a file part may have the empty name. */
  readonly filename: string | null;
  /** Media type in lower case without parameters, null when the part states none. */
  readonly mediaType: string | null;
  /** The charset the part declares, in lower case, null when it declares none. */
  readonly charset: string | null;
  /** The bytes exactly as they arrived: nothing is decoded, so nothing is silently replaced. */
  readonly content: Buffer;
}

export type MultipartFault = 'not_multipart' | 'boundary' | 'truncated' | 'header' | 'too_many_parts';

/** The body is not a well-formed multipart/form-data message. */
export class MultipartRefused extends Error {
  constructor(
    readonly code: MultipartFault,
    message: string,
  ) {
    super(message);
    this.name = 'MultipartRefused';
  }
}

const MAX_HEADER_BYTES = 16 * 1024;
const CR = 13;
const LF = 10;
const DASH = 45;

/**
 * Splits a complete multipart/form-data body into its parts.
 *
 * Works on the whole body at once (its size is bounded before), which keeps the raw bytes of form fields: a general
 * parser hands fields out as text and has by then replaced what is not UTF-8. Line ends may be CRLF or LF.
 *
 * @param contentType the request's Content-Type header
 * @throws MultipartRefused
 */
export function parseMultipart(body: Buffer, contentType: string, { maxParts = 20 } = {}): Part[] {
  const type = parseHeaderValue(contentType);
  if (type.value !== 'multipart/form-data') {
    throw new MultipartRefused('not_multipart', 'The body must be multipart/form-data.');
  }
  const boundary = type.parameters.get('boundary');
  if (boundary === undefined || boundary === '' || boundary.length > 200) {
    throw new MultipartRefused('boundary', 'The Content-Type header must name the boundary of the parts.');
  }
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const parts: Part[] = [];
  let position = nextDelimiter(body, delimiter, 0);
  if (position < 0) throw new MultipartRefused('boundary', 'The body does not contain the boundary of the parts.');
  for (;;) {
    let start = position + delimiter.length;
    if (body[start] === DASH && body[start + 1] === DASH) return parts;
    start = afterLine(body, start);
    const end = start < 0 ? -1 : nextDelimiter(body, delimiter, start);
    if (end < 0) throw new MultipartRefused('truncated', 'The body ends before its closing boundary.');
    if (parts.length >= maxParts) throw new MultipartRefused('too_many_parts', `More than ${maxParts} parts.`);
    parts.push(readPart(body, start, beforeDelimiter(body, start, end)));
    position = end;
  }
}

/** Start of the next delimiter that stands at the beginning of a line and is a whole one, or -1. */
function nextDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  for (let at = body.indexOf(delimiter, from); at >= 0; at = body.indexOf(delimiter, at + 1)) {
    const startsLine = at === 0 || body[at - 1] === LF;
    if (startsLine && endsDelimiter(body, at + delimiter.length)) return at;
  }
  return -1;
}

/** A boundary that is merely the beginning of a longer line of content is content. */
function endsDelimiter(body: Buffer, at: number): boolean {
  if (body[at] === DASH && body[at + 1] === DASH) return true;
  while (body[at] === 32 || body[at] === 9) at += 1;
  return body[at] === LF || (body[at] === CR && body[at + 1] === LF);
}

function afterLine(body: Buffer, from: number): number {
  const lineEnd = body.indexOf(LF, from);
  return lineEnd < 0 ? -1 : lineEnd + 1;
}

/** The line end in front of a delimiter belongs to the delimiter. */
function beforeDelimiter(body: Buffer, start: number, end: number): number {
  let last = end;
  if (last > start && body[last - 1] === LF) last -= 1;
  if (last > start && body[last - 1] === CR) last -= 1;
  return last;
}

function readPart(body: Buffer, start: number, end: number): Part {
  const headers = new Map<string, string>();
  let at = start;
  for (;;) {
    const lineEnd = body.indexOf(LF, at);
    if (lineEnd < 0 || lineEnd > end || lineEnd - start > MAX_HEADER_BYTES) {
      // A part without content may end with the line of its last header.
      throw new MultipartRefused('header', 'A part has no blank line after its headers.');
    }
    const contentEnd = body[lineEnd - 1] === CR ? lineEnd - 1 : lineEnd;
    const line = body.toString('utf8', at, Math.max(at, contentEnd));
    at = lineEnd + 1;
    if (line === '') break;
    const colon = line.indexOf(':');
    if (colon <= 0) throw new MultipartRefused('header', 'A header line of a part has no name.');
    headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = parseHeaderValue(headers.get('content-disposition') ?? '');
  const name = disposition.parameters.get('name');
  if (disposition.value !== 'form-data' || name === undefined) {
    throw new MultipartRefused('header', 'Every part needs `Content-Disposition: form-data; name="..."`.');
  }
  const type = headers.has('content-type') ? parseHeaderValue(headers.get('content-type') as string) : null;
  return {
    name,
    filename: disposition.parameters.get('filename') ?? disposition.parameters.get('filename*') ?? null,
    mediaType: type?.value || null,
    charset: type?.parameters.get('charset')?.toLowerCase() ?? null,
    content: body.subarray(Math.min(at, end), end),
  };
}

const PARAMETER = /;\s*([^\s=;]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;]*))/g;

/** `value; name=token; other="quoted \" text"`; value and names in lower case. */
export function parseHeaderValue(text: string): { value: string; parameters: Map<string, string> } {
  const semicolon = text.indexOf(';');
  const value = (semicolon < 0 ? text : text.slice(0, semicolon)).trim().toLowerCase();
  const parameters = new Map<string, string>();
  if (semicolon >= 0) {
    for (const [, name, quoted, token] of text.slice(semicolon).matchAll(PARAMETER)) {
      const parameter = (name as string).toLowerCase();
      if (!parameters.has(parameter)) {
        parameters.set(parameter, quoted !== undefined ? quoted.replace(/\\(["\\])/g, '$1') : (token as string));
      }
    }
  }
  return { value, parameters };
}
