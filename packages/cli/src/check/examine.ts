import type { Fault } from '@ecf/domain';
import {
  type ExamineOptions,
  examineJson,
  examineXml,
  JsonRefused,
  parseDocument,
  parseXml,
  XmlRefused,
} from '@ecf/ecf-xml';
import { isXml } from '../input/read-document.js';

/** The result of `check` for a document. */
export interface Verdict {
  readonly document: string | null;
  readonly type: string | null;
  readonly encf: string | null;
  readonly valid: boolean;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

/** How documents are checked. */
export interface CheckOptions extends ExamineOptions {
  /** Whether a warning counts as a fault. */
  readonly strict: boolean;
}

/** Checks the bytes of a document, JSON or XML. */
export function examine(bytes: Uint8Array, options: CheckOptions): Verdict {
  if (!isXml(bytes)) return examineJsonText(bytes, options);
  return checked(() => examineXml(parseXml(bytes), options), options);
}

/** Checks a document that must be JSON. */
export function examineJsonText(bytes: Uint8Array, options: CheckOptions): Verdict {
  return checked(() => examineJson(parseDocument(bytes), options), options);
}

/** A document with this fault alone, because nothing else of it can be checked. */
export function unreadableDocument(message: string, source: string): Verdict {
  const faults = [{ path: '', rule: 'schema.type', code: null, message, source, severity: 'error' as const }];
  return { document: null, type: null, encf: null, valid: false, faults, warnings: [] };
}

function checked(examine: () => Verdict, { strict }: CheckOptions): Verdict {
  try {
    const { document, type, encf, valid, faults, warnings } = examine();
    if (!strict) return { document, type, encf, valid, faults, warnings };
    const all = [...faults, ...warnings];
    return { document, type, encf, valid: all.length === 0, faults: all, warnings: [] };
  } catch (error) {
    if (error instanceof JsonRefused) return unreadableDocument(error.message, 'JSON (RFC 8259)');
    if (error instanceof XmlRefused) return unreadableDocument(error.message, 'XML 1.0');
    throw error;
  }
}
