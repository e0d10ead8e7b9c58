import type { EcfType, Fault } from '@ecf/domain';
import { type DocumentName, JsonRefused, parseDocument } from '@ecf/ecf-xml/json';

/** The result of a check. Faults make a document invalid; warnings never do. */
export interface CheckResult {
  /** The root of the document; null if it is not a document of the authority. */
  readonly document: DocumentName | null;
  /** `TipoeCF` of an e-CF; null for other documents. */
  readonly type: EcfType | null;
  readonly encf: string | null;
  /** Whether there are no faults. */
  readonly valid: boolean;
  readonly faults: readonly Fault[];
  readonly warnings: readonly Fault[];
}

export interface CheckOptions {
  /** The moment that counts as now; default the present time. */
  readonly now?: Date;
  /** Checks the structure only, without the business rules. */
  readonly schemaOnly?: boolean;
}

/** The value of a document in JSON. Throws JsonRefused. */
export function jsonValue(input: object | string | Uint8Array): unknown {
  return typeof input === 'string' || input instanceof Uint8Array ? parseDocument(input) : input;
}

/** The public part of a result. JSON that cannot be read has the reason as its only fault. */
export function checked(examine: () => CheckResult): CheckResult {
  try {
    const { document, type, encf, valid, faults, warnings } = examine();
    return { document, type, encf, valid, faults, warnings };
  } catch (error) {
    if (error instanceof JsonRefused) return unreadable(error.message, 'JSON (RFC 8259)');
    throw error;
  }
}

/** The result for a document that cannot be read. */
export function unreadable(message: string, source: string): CheckResult {
  const fault: Fault = { path: '', rule: 'schema.type', code: null, message, source, severity: 'error' };
  return { document: null, type: null, encf: null, valid: false, faults: [fault], warnings: [] };
}
