/** One part of a multipart/form-data body; `body` is a view of the request's bytes. */
export interface Part {
  readonly name: string;
  /** Null: a plain field, not a file. */
  readonly filename: string | null;
  readonly contentType: string | null;
  readonly body: Buffer;
}

export type MultipartRefusal = 'not_multipart' | 'no_boundary' | 'malformed';

/** Reads a multipart/form-data body (RFC 7578). Strict: a body that violates the grammar is refused. */
export function readMultipart(contentType: string | undefined, body: Buffer): Part[] | MultipartRefusal {
  if (!/^\s*multipart\/form-data\b/i.test(contentType ?? '')) return 'not_multipart';
  const boundary = boundaryOf(contentType ?? '');
  if (boundary === null) return 'no_boundary';
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  let at = firstDelimiter(body, delimiter);
  if (at < 0) return 'malformed';
  const parts: Part[] = [];
  for (;;) {
    const after = at + delimiter.length;
    if (body[after] === 0x2d && body[after + 1] === 0x2d) return parts;
    const lineEnd = body.indexOf('\r\n', after, 'latin1');
    if (lineEnd < 0) return 'malformed';
    const headersEnd = body.indexOf('\r\n\r\n', lineEnd, 'latin1');
    if (headersEnd < 0) return 'malformed';
    const contentStart = headersEnd + 4;
    const next = body.indexOf(`\r\n--${boundary}`, contentStart, 'latin1');
    if (next < 0) return 'malformed';
    const part = partOf(body.toString('utf8', lineEnd + 2, headersEnd), body.subarray(contentStart, next));
    if (part === null) return 'malformed';
    parts.push(part);
    at = next + 2;
  }
}

function boundaryOf(contentType: string): string | null {
  const match = /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(contentType);
  return match?.[1] ?? match?.[2] ?? null;
}

/** The first delimiter begins the body or a line of the preamble. */
function firstDelimiter(body: Buffer, delimiter: Buffer): number {
  if (body.subarray(0, delimiter.length).equals(delimiter)) return 0;
  const at = body.indexOf(Buffer.concat([Buffer.from('\r\n'), delimiter]));
  return at < 0 ? -1 : at + 2;
}

function partOf(head: string, body: Buffer): Part | null {
  const headers = new Map<string, string>();
  for (const line of head.split('\r\n')) {
    const colon = line.indexOf(':');
    if (colon > 0) headers.set(line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim());
  }
  const disposition = headers.get('content-disposition') ?? '';
  if (!/^form-data\b/i.test(disposition)) return null;
  const name = parameter(disposition, 'name');
  if (name === null) return null;
  return {
    name,
    filename: extendedParameter(disposition, 'filename') ?? parameter(disposition, 'filename'),
    contentType: headers.get('content-type') ?? null,
    body,
  };
}

/** `name="value"` or `name=value`. */
function parameter(header: string, name: string): string | null {
  // linear: the second form matches wherever the first has no end
  const match = new RegExp(`;\\s*${name}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(header);
  if (!match) return null;
  return match[1]?.replace(/\\(["\\])/g, '$1') ?? match[2] ?? null;
}

/** `filename*=UTF-8''percent-encoded` (RFC 5987). */
function extendedParameter(header: string, name: string): string | null {
  // linear: each attempt ends at the next apostrophe
  const match = new RegExp(`;\\s*${name}\\*=utf-8'[^']*'([^;\\s]*)`, 'i').exec(header);
  if (!match?.[1]) return null;
  try {
    return decodeURIComponent(match[1]);
  } catch {
    return null;
  }
}
