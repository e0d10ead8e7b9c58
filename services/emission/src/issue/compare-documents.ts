import { hash } from 'node:crypto';
import type { DocumentReader } from '@ecf/archive';
import { comparableText, type Difference, differences } from '@ecf/ecf-xml';
import type { Attempt } from '../attempt/attempt.js';

/** How a document differs from a stored one; the same document has no difference. */
export interface Comparison {
  /** Elements that differ. */
  readonly count: number;
  /** The first of them, at most {@link MOST_NAMED}; none if their values are not for this caller. */
  readonly first: readonly Difference[];
}

/** Elements that the answer to a conflict names. */
const MOST_NAMED = 5;
const SAME: Comparison = { count: 0, first: [] };
const UNNAMED: Comparison = { count: 1, first: [] };

/** A document of a request, for the comparison with a stored one. */
export interface SentDocument {
  readonly accountId: string;
  readonly root: 'ECF' | 'RFCE';
  /** As {@link Attempt.contentHash}. */
  readonly contentHash: string;
  /** Its XML, signed or not. */
  xml(): Uint8Array;
}

/** {@link Attempt.contentHash} of a document, as `writeXml` writes it. */
export function contentHashOf(canonical: string): string {
  return hash('sha256', comparableText(canonical), 'hex');
}

/** Compares the XML of a stored document with that of a sent one; `ignored` are paths that do not count. */
export function compareXml(stored: Uint8Array, sent: Uint8Array, ignored: readonly string[]): Comparison {
  const found = differences(stored, sent, ignored);
  return { count: found.length, first: found.slice(0, MOST_NAMED) };
}

/** {@link compareXml}, wherever it runs; accounts take turns. */
export type CompareXml = (...comparison: [...Parameters<typeof compareXml>, accountId: string]) => Promise<Comparison>;

/** Compares a sent document with the one of an attempt; `ignored` are paths that do not count. */
export type CompareWithAttempt = (
  attempt: Attempt,
  sent: SentDocument,
  ignored?: readonly string[],
) => Promise<Comparison>;

/**
 * Equal hashes decide. Otherwise the documents are compared, because some paths may not count, and to name what differs.
 */
export function createCompareWithAttempt(archive: DocumentReader, compare: CompareXml): CompareWithAttempt {
  return async (attempt, sent, ignored = []) => {
    if (attempt.contentHash === sent.contentHash) return SAME;
    if (attempt.accountId !== sent.accountId) return UNNAMED;
    const file = sent.root === 'RFCE' ? (attempt.rfce ?? attempt.xml) : attempt.xml;
    const stored = await archive.get(file.path, file.sha256);
    return compare(stored, sent.xml(), ignored, sent.accountId);
  };
}
