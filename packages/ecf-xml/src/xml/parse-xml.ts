/** Inclusive Canonical XML 1.0 (without comments) of a whole document, and what was seen on the way. */
export interface CanonicalXml {
  text: string;
  rootName: string;
  /** The document had comments; the canonical text has none. */
  hasComments: boolean;
  hasProcessingInstructions: boolean;
  /** The bytes began with a byte order mark. */
  hasByteOrderMark: boolean;
}

export interface XmlLimits {
  /** Longest document in bytes. */
  maxBytes?: number;
  /** Deepest nesting of elements. */
  maxDepth?: number;
}

export type XmlRefusedCode =
  | 'empty'
  | 'too_large'
  | 'encoding'
  | 'not_utf8'
  | 'nul'
  | 'doctype'
  | 'too_deep'
  | 'not_well_formed';

/** The bytes are no XML document that we would read. */
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

/**
 * Parses an untrusted document and canonicalises it.
 *
 * @throws XmlRefused
 */
export function parseXml(_bytes: Uint8Array, _limits?: XmlLimits): CanonicalXml {
  throw new Error('not built');
}
