import { ParseOption, XmlDocument, XmlError, XmlParseError } from 'libxml2-wasm';
import { withPlainDeclaration } from './declared-encoding.js';
import { guardXml, XmlRefused } from './guard.js';
import { canonicaliseOddNamespaces } from './odd-namespaces.js';

/** Inclusive Canonical XML 1.0 (without comments) of a whole document, and what was seen on the way. */
export interface CanonicalXml {
  text: string;
  rootName: string;
  /**
   * False if a namespace is not an absolute URI: Canonical XML refuses that by its letter, `text` is the form without that
   * refusal.
   */
  hasCanonicalForm: boolean;
  /**
   * The document as received, without byte order mark and with normalised line ends. Only the structural check reads it,
   * because the canonical text does not show CDATA sections.
   */
  source: string;
  /** There are comments inside the root, where they split values; the canonical text has none. */
  hasInnerComments: boolean;
  hasProcessingInstructions: boolean;
  /** The bytes began with a byte order mark. */
  hasByteOrderMark: boolean;
}

export interface XmlLimits {
  /** Longest document in bytes. */
  maxBytes?: number;
}

/** Room for a note (33, 34) of 10,000 lines with some twenty elements each. */
const MAX_XML_BYTES = 20 * 1024 * 1024;

/**
 * Parses an untrusted document and canonicalises it. DOCTYPE, bytes other than UTF-8, NUL, depth beyond 256 and documents
 * beyond `maxBytes` are refused before the parser runs. Entities and external resources do not exist.
 *
 * @param bytes the document as it came, with or without byte order mark and prolog
 * @throws XmlRefused
 */
export function parseXml(bytes: Uint8Array, limits: XmlLimits = {}): CanonicalXml {
  const plain = withPlainDeclaration(bytes);
  const guarded = guardXml(plain, limits.maxBytes ?? MAX_XML_BYTES);
  const document = parseGuarded(plain);
  try {
    if (document.dtd !== null) throw new XmlRefused('doctype', 'A document type declaration is never read; remove it.');
    const canonical = canonicalForm(document);
    return {
      text: canonical ?? canonicaliseOddNamespaces(guarded.source, canonicalText),
      hasCanonicalForm: canonical !== null,
      rootName: document.root.name,
      ...guarded,
    };
  } finally {
    document.dispose();
  }
}

/** Null if Canonical XML has no form for the document: one of its namespaces is not an absolute URI. */
function canonicalForm(document: XmlDocument): string | null {
  try {
    return document.canonicalizeToString();
  } catch (error) {
    if (error instanceof XmlError) return null;
    throw error;
  }
}

function canonicalText(source: string): string {
  const document = XmlDocument.fromString(source);
  try {
    return document.canonicalizeToString();
  } finally {
    document.dispose();
  }
}

function parseGuarded(bytes: Uint8Array): XmlDocument {
  try {
    return XmlDocument.fromBuffer(bytes, { option: ParseOption.XML_PARSE_NO_XXE | ParseOption.XML_PARSE_NONET });
  } catch (error) {
    if (!(error instanceof XmlParseError)) throw error;
    const detail = error.details[0];
    const message = (detail?.message ?? error.message).trim();
    if (/^Resource limit exceeded/.test(message))
      throw new XmlRefused(
        'too_complex',
        'Text, blanks or a value is longer than ten million bytes in one piece.',
        detail?.line ?? null,
        detail?.col ?? null,
        { cause: error },
      );
    throw new XmlRefused(
      /Excessive depth/.test(message) ? 'too_deep' : 'not_well_formed',
      `The document is not well-formed XML: ${message}`,
      detail?.line ?? null,
      detail?.col ?? null,
      { cause: error },
    );
  }
}
