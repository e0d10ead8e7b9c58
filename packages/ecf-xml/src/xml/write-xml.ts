import type { DocumentNode } from '@ecf/domain';

/** One document in the two forms that differ only in how quotes are written in text. */
export interface WrittenXml {
  /** Inclusive Canonical XML 1.0: what a signature digests. */
  canonical: string;
  /** What is sent and stored: as canonical, with `"` and `'` in text written as entities. */
  output: string;
}

/** Writes a normalised tree as one compact document without prolog and without signature. */
export function writeXml(_tree: DocumentNode): WrittenXml {
  throw new Error('not built');
}
