import { decodeUtf8, positionOf } from '../utf8.js';

export type XmlRefusedCode =
  | 'empty'
  | 'too_large'
  | 'encoding'
  | 'not_utf8'
  | 'nul'
  | 'doctype'
  | 'too_deep'
  | 'too_complex'
  | 'not_well_formed';

/** The bytes are not an XML document that we accept. Line and column count from 1 where they are known. */
export class XmlRefused extends Error {
  override readonly name = 'XmlRefused';
  constructor(
    readonly code: XmlRefusedCode,
    message: string,
    readonly line: number | null = null,
    readonly column: number | null = null,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The findings of the guard. */
export interface GuardedXml {
  /** The document as text, without byte order mark, line ends normalised to LF as an XML parser does. */
  source: string;
  hasByteOrderMark: boolean;
  /** Comments inside the root element. */
  hasInnerComments: boolean;
  hasProcessingInstructions: boolean;
}

/** Bounds that keep parsing and canonicalisation linear: both slow down with the square of these. */
const MAX_DEPTH = 256;
const MAX_ATTRIBUTES = 64;
const MAX_NAMESPACES_IN_SCOPE = 64;
/** Every element costs a little for each namespace in scope. Documents declare two or three; those are not counted. */
const USUAL_NAMESPACES = 4;
const MAX_NAMESPACES_OVER_ELEMENTS = 500_000;
/**
 * Declared names of namespaces that are not absolute URIs. Each makes the parser report an error and the document to be
 * canonicalised by a detour, some 30 microseconds together; no real document has one.
 */
const MAX_ODD_NAMESPACES = 10_000;
const ABSOLUTE_URI = /^[A-Za-z][A-Za-z0-9+.-]*:[\w\-.~:/?#[\]@!$'()*+,;=%]*$/;

/** A note of 10,000 full lines has about half as many; a parsed element takes about a hundred bytes, however short it is. */
const MAX_ELEMENTS = 1_000_000;

/**
 * Checks untrusted bytes before any parser reads them. Refuses bytes other than UTF-8, document type declarations (so there
 * are not custom entities), NUL, and content that would cost more than linear time or memory. The parser checks
 * well-formedness.
 *
 * @throws XmlRefused
 */
export function guardXml(bytes: Uint8Array, maxBytes: number): GuardedXml {
  if (bytes.length === 0) throw new XmlRefused('empty', 'The document is empty; send the XML itself.');
  if (bytes.length > maxBytes) {
    throw new XmlRefused('too_large', `The document has ${bytes.length} bytes; at most ${maxBytes} are read.`);
  }
  refuseOtherEncodings(bytes);
  const nul = bytes.indexOf(0);
  if (nul >= 0) throw new XmlRefused('nul', `There is a NUL byte at offset ${nul}; XML text cannot contain it.`);
  const decoded = decodeUtf8(bytes);
  if (!('text' in decoded)) {
    throw new XmlRefused(
      'not_utf8',
      `The bytes are not valid UTF-8 at offset ${decoded.badOffset}; write the document as UTF-8.`,
    );
  }
  const hasByteOrderMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  const source = decoded.text.includes('\r') ? decoded.text.replace(/\r\n?/g, '\n') : decoded.text;
  refuseDeclaredEncoding(source);
  return { source, hasByteOrderMark, ...walkMarkup(source) };
}

function refuseOtherEncodings(bytes: Uint8Array): void {
  const [first, second, third] = bytes;
  const utf16Or32 = (first === 0xfe && second === 0xff) || (first === 0xff && second === 0xfe);
  const noMark = (first === 0 && second !== undefined) || second === 0;
  const ebcdic = first === 0x4c && second === 0x6f && third === 0xa7;
  if (utf16Or32 || noMark || ebcdic) {
    throw new XmlRefused(
      'encoding',
      'The document is not UTF-8 (it looks like UTF-16, UTF-32 or EBCDIC); write it as UTF-8.',
    );
  }
}

function refuseDeclaredEncoding(source: string): void {
  if (!source.startsWith('<?xml')) return;
  const declaration = source.slice(0, source.indexOf('?>') + 2);
  const encoding = /\sencoding\s*=\s*["']([^"']*)["']/.exec(declaration)?.[1];
  if (encoding !== undefined && !/^(utf-?8|us-ascii|ascii)$/i.test(encoding)) {
    throw new XmlRefused('encoding', `The document declares the encoding "${encoding}"; only UTF-8 is read.`, 1, 1);
  }
}

/** Goes from one `<` to the next, keeping depth, attributes and namespace declarations within their bounds. */
function walkMarkup(source: string): { hasInnerComments: boolean; hasProcessingInstructions: boolean } {
  const seen = { hasInnerComments: false, hasProcessingInstructions: false };
  const bounds = new Bounds(source);
  let at = source.indexOf('<');
  while (at >= 0) {
    let end: number;
    const mark = source.charCodeAt(at + 1);
    if (mark === 0x2f /* / */) {
      end = endOf(source, '>', at + 2);
      bounds.close();
    } else if (mark === 0x3f /* ? */) {
      if (at > 0 || !/^<\?xml\s/.test(source.slice(0, 6))) seen.hasProcessingInstructions = true;
      end = endOf(source, '?>', at + 2);
    } else if (mark !== 0x21 /* ! */) {
      end = bounds.open(at);
    } else if (source.startsWith('<!--', at)) {
      if (bounds.isInside) seen.hasInnerComments = true;
      end = endOf(source, '-->', at + 4);
    } else if (source.startsWith('<![CDATA[', at)) {
      end = endOf(source, ']]>', at + 9);
    } else {
      throw refusalAt(source, at, 'doctype', 'A document type declaration (<!DOCTYPE ...>) is never read; remove it.');
    }
    // An unfinished piece of markup ends the walk: the parser will name the fault.
    if (end < 0) break;
    at = source.indexOf('<', end);
  }
  return seen;
}

/** Depth and namespace declarations of the open elements. */
class Bounds {
  private readonly declared: number[] = [];
  private inScope = 0;
  private namespaceWork = 0;
  private oddNamespaces = 0;
  private elements = 0;
  private nextEquals: number;

  constructor(private readonly source: string) {
    this.nextEquals = source.indexOf('=');
  }

  /** Whether an element is open. */
  get isInside(): boolean {
    return this.declared.length > 0;
  }

  /** Takes in the start tag at `at` and returns the index behind it, or -1 when it has no end. */
  open(at: number): number {
    const { source } = this;
    let end = endOf(source, '>', at + 1);
    if (end < 0) return end;
    if (++this.elements > MAX_ELEMENTS) {
      throw refusalAt(source, at, 'too_complex', `The document has more than ${MAX_ELEMENTS} elements.`);
    }
    let namespaces = 0;
    if (this.nextEquals >= 0 && this.nextEquals < at) this.nextEquals = source.indexOf('=', at);
    if (this.nextEquals >= 0 && this.nextEquals < end) {
      const tag = endOfTag(source, at);
      end = tag.end;
      namespaces = tag.namespaces;
      if (tag.attributes > MAX_ATTRIBUTES) {
        throw refusalAt(source, at, 'too_complex', `An element has more than ${MAX_ATTRIBUTES} attributes.`);
      }
      this.oddNamespaces += tag.oddNamespaces;
      if (this.oddNamespaces > MAX_ODD_NAMESPACES) {
        throw refusalAt(
          source,
          at,
          'too_complex',
          'Too many declared namespaces have names that are not absolute URIs.',
        );
      }
    }
    if (this.inScope + namespaces > MAX_NAMESPACES_IN_SCOPE) {
      throw refusalAt(source, at, 'too_complex', 'Too many namespace declarations are in scope.');
    }
    this.namespaceWork += Math.max(0, this.inScope + namespaces - USUAL_NAMESPACES);
    if (this.namespaceWork > MAX_NAMESPACES_OVER_ELEMENTS) {
      throw refusalAt(source, at, 'too_complex', 'Too many namespace declarations are in scope of too many elements.');
    }
    if (source.charCodeAt(end - 2) !== 0x2f) {
      this.declared.push(namespaces);
      this.inScope += namespaces;
      if (this.declared.length > MAX_DEPTH) {
        throw refusalAt(source, at, 'too_deep', `Elements are nested more than ${MAX_DEPTH} deep.`);
      }
    }
    return end;
  }

  close(): void {
    this.inScope -= this.declared.pop() ?? 0;
  }
}

/** The index just behind the next `mark`, or -1. */
function endOf(source: string, mark: string, from: number): number {
  const found = source.indexOf(mark, from);
  return found < 0 ? -1 : found + mark.length;
}

interface TagEnd {
  readonly end: number;
  readonly attributes: number;
  readonly namespaces: number;
  readonly oddNamespaces: number;
}

/** The end of a start tag, minding that a quoted attribute value may contain `>`. */
function endOfTag(source: string, at: number): TagEnd {
  let attributes = 0;
  let namespaces = 0;
  let oddNamespaces = 0;
  let declares = false;
  for (let i = at + 1; i < source.length; i++) {
    const c = source.charCodeAt(i);
    if (c === 0x3e /* > */) return { end: i + 1, attributes, namespaces, oddNamespaces };
    if (c === 0x22 /* " */ || c === 0x27 /* ' */) {
      attributes++;
      const close = source.indexOf(c === 0x22 ? '"' : "'", i + 1);
      if (close < 0) break;
      if (declares && close > i + 1 && !ABSOLUTE_URI.test(source.slice(i + 1, close))) oddNamespaces++;
      declares = false;
      i = close;
    } else if (c === 0x78 /* x */ && source.startsWith('xmlns', i)) {
      namespaces++;
      declares = true;
    }
  }
  return { end: -1, attributes, namespaces, oddNamespaces };
}

function refusalAt(
  source: string,
  at: number,
  code: 'doctype' | 'too_deep' | 'too_complex',
  message: string,
): XmlRefused {
  const { line, column } = positionOf(source, at);
  return new XmlRefused(code, message, line, column);
}
