import type { IncomingMessage } from 'node:http';
import { type BodyLimits, readBody } from '@ecf/http';

/** Why no XML could be taken out of a body. */
export type XmlPartProblem =
  | 'body_empty'
  | 'body_compressed'
  | 'body_not_xml'
  | 'multipart_without_boundary'
  | 'multipart_malformed'
  | 'multipart_incomplete'
  | 'multipart_too_many_parts'
  | 'multipart_headers_too_large'
  | 'xml_part_missing'
  | 'xml_part_repeated'
  | 'xml_part_encoding';

/** A body without exactly one XML document in it. */
export class XmlPartError extends Error {
  override readonly name = 'XmlPartError';
  constructor(
    readonly problem: XmlPartProblem,
    message: string,
  ) {
    super(message);
  }
}

/** How archives and compressed files begin: zip, gzip, zlib, bzip2, xz, zstd, 7z, rar. */
const ARCHIVES = [
  '504b',
  '1f8b',
  '7801',
  '785e',
  '789c',
  '78da',
  '425a68',
  'fd377a585a',
  '28b52ffd',
  '377abcaf',
  '52617221',
];

const LINE_END = Buffer.from('\n');
const MAX_PARTS = 16;
const MAX_PART_HEADERS = 8 * 1024;
const PART = 'xml';

const LF = 0x0a;
const CR = 0x0d;
const LESS_THAN = 0x3c;
const EQUALS = 0x3d;
const DASH = 0x2d;
const SPACE = 0x20;
const TAB = 0x09;

/** Reads a request and takes the XML document out of its body. Rejects with ApiError or XmlPartError. */
export async function readXmlDocument(req: IncomingMessage, limits: BodyLimits): Promise<Buffer> {
  return takeXmlPart(await readBody(req, limits), req.headers['content-type']);
}

interface Part {
  readonly name: string | null;
  /** Without its transfer encoding; null if it is not in the one that it names. */
  readonly content: Buffer | null;
}

/**
 * Finds the document in a body as senders really write it. It is the multipart part `xml`, with a quoted or plain name, any
 * file name and any part type; or a single part of another name; or the whole body. The bytes decide, not the declared
 * types. A transfer encoding is decoded if the bytes have it. Nothing else is copied.
 *
 * @param contentType the request's header, whatever it says
 * @throws XmlPartError
 */
export function takeXmlPart(body: Buffer, contentType: string | undefined): Buffer {
  if (body.length === 0) {
    throw new XmlPartError(
      'body_empty',
      'The body is empty; send multipart/form-data with the document in the part xml.',
    );
  }
  if (startsLikeXml(body)) return body;
  const boundary = boundaryOf(body, contentType);
  if (boundary === null) throw notXml(body, contentType);
  return choosePart(splitParts(body, boundary));
}

function notXml(body: Buffer, contentType: string | undefined): XmlPartError {
  if (startsLikeArchive(body))
    return new XmlPartError('body_compressed', 'The body is compressed; send the XML itself.');
  if (/^multipart\//i.test(contentType ?? '')) {
    return new XmlPartError('multipart_without_boundary', 'The multipart body has no boundary that could be found.');
  }
  return new XmlPartError('body_not_xml', 'The body is neither multipart/form-data nor an XML document.');
}

function startsLikeArchive(bytes: Buffer): boolean {
  const start = bytes.subarray(0, 6).toString('hex');
  return ARCHIVES.some((magic) => start.startsWith(magic));
}

/**
 * The boundary in the header, or the body's first line if the header has none or a wrong one. Without quotes it ends at the
 * semicolon, because senders write commas and other marks in it. If the body has no such boundary, it ends at a blank or
 * comma.
 */
function boundaryOf(body: Buffer, contentType: string | undefined): string | null {
  const named = /boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;,"][^;"]{0,199}))/i.exec(contentType ?? '');
  const bare = named?.[2]?.trimEnd();
  for (const boundary of [named?.[1], bare, bare?.split(/[\s,]/, 1)[0]]) {
    if (boundary !== undefined && body.indexOf(`--${boundary}`, 0, 'latin1') >= 0) return boundary;
  }
  const line = /^(?:\xef\xbb\xbf)?\s{0,8}--([^\r\n]{1,200})\r?\n/.exec(body.toString('latin1', 0, 256));
  return line?.[1]?.trimEnd() ?? null;
}

function splitParts(body: Buffer, boundary: string): Part[] {
  const delimiter = Buffer.from(`--${boundary}`, 'latin1');
  const parts: Part[] = [];
  let at = nextDelimiter(body, delimiter, 0);
  while (at >= 0) {
    let from = at + delimiter.length;
    if (body[from] === DASH && body[from + 1] === DASH) return parts;
    // The last boundary may lack one or both of its dashes.
    if (parts.length > 0 && isBlank(body.subarray(body[from] === DASH ? from + 1 : from))) return parts;
    from = body.indexOf(LF, from) + 1;
    if (from === 0) break;
    const next = nextDelimiter(body, delimiter, from);
    const end = next < 0 ? closingInLine(body, delimiter, from) : next;
    if (end < 0) {
      throw new XmlPartError(
        'multipart_incomplete',
        'The multipart body ends before its closing boundary; send it again.',
      );
    }
    if (parts.length === MAX_PARTS) {
      throw new XmlPartError(
        'multipart_too_many_parts',
        `The body has more than ${MAX_PARTS} parts; one, xml, is enough.`,
      );
    }
    parts.push(readPart(body.subarray(from, withoutLineEnd(body, end))));
    at = end;
  }
  if (parts.length === 0) throw new XmlPartError('multipart_malformed', 'The multipart body holds no part.');
  return parts;
}

/** The next delimiter that stands at the beginning of a line, or -1. A byte order mark may stand before the first line. */
function nextDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  for (const start of from === 0 ? [0, startsWithMark(body) ? 3 : 0] : []) {
    if (body.subarray(start, start + delimiter.length).equals(delimiter)) return start;
  }
  // With the line end before it, so that a boundary inside a line is not examined.
  const at = body.indexOf(Buffer.concat([LINE_END, delimiter]), Math.max(from - 1, 0));
  return at < 0 ? -1 : at + 1;
}

/**
 * The closing delimiter right behind the last part, whose line was not ended; or -1. It counts only where nothing follows: no
 * document ends with one.
 */
function closingInLine(body: Buffer, delimiter: Buffer, from: number): number {
  const at = body.lastIndexOf(delimiter);
  const dashes = at + delimiter.length;
  const closes = at >= from && body[dashes] === DASH && body[dashes + 1] === DASH;
  return closes && isBlank(body.subarray(dashes + 2)) ? at : -1;
}

function withoutLineEnd(body: Buffer, end: number): number {
  if (body[end - 1] !== LF) return end;
  const beforeLf = end - 1;
  return body[beforeLf - 1] === CR ? beforeLf - 1 : beforeLf;
}

function readPart(part: Buffer): Part {
  let from = 0;
  const lines: string[] = [];
  for (;;) {
    const end = part.indexOf(LF, from);
    // Without an empty line all of it is content: a sender that wrote no headers at all.
    if (end < 0) return { name: null, content: part };
    if (end > MAX_PART_HEADERS) {
      throw new XmlPartError('multipart_headers_too_large', 'The headers of a part are larger than 8 KiB.');
    }
    const line = part.toString('latin1', from, end).replace(/\r$/, '');
    from = end + 1;
    if (line === '') break;
    if (line.trimStart().startsWith('<')) return { name: null, content: part };
    if (/^[ \t]/.test(line) && lines.length > 0) lines.push(`${lines.pop()} ${line.trim()}`);
    else lines.push(line);
  }
  return {
    name: partName(header(lines, 'content-disposition')),
    content: decoded(part.subarray(from), header(lines, 'content-transfer-encoding').trim().toLowerCase()),
  };
}

function header(lines: readonly string[], name: string): string {
  const line = lines.find((one) => one.toLowerCase().startsWith(`${name}:`));
  return line?.slice(name.length + 1) ?? '';
}

/** `name` in quotes, in apostrophes or bare; never the end of `filename`. */
function partName(disposition: string): string | null {
  const found = /(?:^|[;\s])name\s*=\s*(?:"([^"]*)"|'([^']*)'|([^;\s]*))/i.exec(disposition);
  return found?.[1] ?? found?.[2] ?? found?.[3] ?? null;
}

function choosePart(parts: readonly Part[]): Buffer {
  const named = parts.filter((part) => part.name?.toLowerCase() === PART);
  const filled = named.filter(({ content }) => content === null || !isBlank(content));
  if (named.length > 0 && filled.length === 0) {
    throw new XmlPartError('body_empty', 'The part xml is empty; put the document into it.');
  }
  // A compressed document says nothing else of itself that a sender could use.
  if ((filled.length > 0 ? filled : parts).some(({ content }) => content !== null && startsLikeArchive(content))) {
    throw new XmlPartError('body_compressed', 'The document in the part is compressed; send the XML itself.');
  }
  const candidates =
    filled.length > 0 ? filled : parts.filter(({ content }) => content !== null && startsLikeXml(content));
  const [first, second] = candidates;
  if (first === undefined) {
    throw new XmlPartError('xml_part_missing', 'The body has no part named xml; put the document into it.');
  }
  if (second !== undefined) {
    throw new XmlPartError('xml_part_repeated', 'The body has more than one document; send one in each request.');
  }
  if (first.content === null) {
    throw new XmlPartError(
      'xml_part_encoding',
      'The part xml is not in the Content-Transfer-Encoding that it names; send its bytes as they are.',
    );
  }
  return first.content;
}

/** Forms send an empty part for an empty file field. */
function isBlank(content: Buffer): boolean {
  return pastBlanks(content, 0) === content.length;
}

/**
 * Undoes a Content-Transfer-Encoding where the bytes are in it: senders declare one and send the document as it is. Null
 * where they are neither in it nor a document.
 */
function decoded(body: Buffer, encoding: string): Buffer | null {
  if (encoding !== 'base64' && encoding !== 'quoted-printable') return body;
  const plain = startsLikeXml(body) ? body : null;
  if (encoding === 'base64') return plain ?? fromBase64(body);
  return fromQuotedPrintable(body) ?? plain;
}

function fromBase64(body: Buffer): Buffer | null {
  const text = body.toString('latin1');
  return /^[A-Za-z0-9+/=\s]*$/.test(text) ? Buffer.from(text, 'base64') : null;
}

/**
 * Null if equals signs are literal, as in every signed document. Blanks at the end of a line are kept: they are signed, and
 * no mail server changes them. Source: RFC 2045 section 6.7.
 */
function fromQuotedPrintable(body: Buffer): Buffer | null {
  const bytes = Buffer.allocUnsafe(body.length);
  let length = 0;
  for (let at = 0; at < body.length; at++) {
    if (body[at] !== EQUALS) {
      bytes[length++] = body[at] as number;
      continue;
    }
    const [high, low] = [hexDigit(body[at + 1]), hexDigit(body[at + 2])];
    if (high >= 0 && low >= 0) {
      bytes[length++] = 16 * high + low;
      at += 2;
      continue;
    }
    // A line end after an equals sign is none.
    while (body[at + 1] === SPACE || body[at + 1] === TAB || body[at + 1] === CR) at++;
    if (at + 1 < body.length && body[at + 1] !== LF) return null;
    at++;
  }
  return bytes.subarray(0, length);
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}

/**
 * Whether the first byte that counts, after a byte order mark and blanks, is `<`. UTF-16 passes, so that the error can name
 * it.
 */
function startsLikeXml(bytes: Buffer): boolean {
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff)) return true;
  return bytes[pastBlanks(bytes, startsWithMark(bytes) ? 3 : 0)] === LESS_THAN;
}

/** The position of the first non-blank byte, or the length. An indexed loop, because a body may have only blanks. */
function pastBlanks(bytes: Buffer, from: number): number {
  let at = from;
  for (; at < bytes.length; at++) {
    const byte = bytes[at];
    if (byte !== SPACE && byte !== TAB && byte !== CR && byte !== LF) break;
  }
  return at;
}

function startsWithMark(bytes: Buffer): boolean {
  return bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
}
