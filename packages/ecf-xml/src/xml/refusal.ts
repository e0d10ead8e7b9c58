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

/** The bytes are no XML document that we would read. Line and column count from 1 where they are known. */
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
