import type { DocumentNode } from '@ecf/domain';
import {
  asInput,
  type CanonicalXml,
  type ExamineOptions,
  examineJson,
  examineXml,
  JsonRefused,
  parseDocument,
  parseXml,
  XmlRefused,
} from '@ecf/ecf-xml';
import { isSigned } from '@ecf/xml-signing';
import { unreadableDocument, type Verdict } from './check/examine.js';
import { isXml } from './input/read-document.js';

/** An unsigned document with its verdict; `tree` is null when it has to be put right first. */
export interface Prepared {
  readonly tree: DocumentNode | null;
  readonly verdict: Verdict;
}

/**
 * Reads and checks an unsigned document, JSON or XML, as the gateway does before it writes one: what would be refused
 * there is refused here.
 */
export function prepare(bytes: Uint8Array, options: ExamineOptions): Prepared {
  try {
    return isXml(bytes) ? prepareXml(parseXml(bytes), options) : prepareJson(parseDocument(bytes), options);
  } catch (error) {
    if (error instanceof JsonRefused) return refused(error.message, 'JSON (RFC 8259)');
    if (error instanceof XmlRefused) return refused(error.message, 'XML 1.0');
    throw error;
  }
}

function prepareJson(value: unknown, options: ExamineOptions): Prepared {
  const verdict = examineJson(value, options);
  return { tree: verdict.valid ? verdict.tree : null, verdict };
}

/** The texts of XML are taken as they are, except what JSON rewrites too: CR becomes LF, and blanks count as absent. */
function prepareXml(xml: CanonicalXml, options: ExamineOptions): Prepared {
  if (isSigned(xml)) return refused('The document is signed already. Take the unsigned one.', 'XML Signature');
  const verdict = examineXml(xml, { ...options, unsigned: true });
  if (!verdict.valid || verdict.tree === null) return { tree: null, verdict };
  return prepareJson(asInput(verdict.tree), options);
}

function refused(message: string, source: string): Prepared {
  return { tree: null, verdict: unreadableDocument(message, source) };
}
