import { hash } from 'node:crypto';
import { referenceSchema } from '@ecf/contracts';
import { asSingle, comparableJson, JsonRefused, leafText, parseDocument } from '@ecf/ecf-xml';
import { leavesNumberOpen } from '../numbers/automatic-number.js';
import { referredNumber } from '../references/referenced-document.js';
import type { NumberedLine } from './line-order.js';

/** The numbers that a line names, the caller's own reference, and what the whole batch is refused for. */
export interface LineNumbers extends Omit<NumberedLine, 'line'> {
  readonly ownReference: string | null;
  /** False if the line is text that is not JSON. */
  readonly isJson: boolean;
  /** Whether the document leaves its number to the service. */
  readonly isOpen: boolean;
}

const NO_NUMBERS: LineNumbers = {
  encf: null,
  issuerRnc: null,
  refersTo: null,
  ownReference: null,
  isJson: true,
  isOpen: false,
};

/** What is read of a line before its check. */
export interface ReadLine extends LineNumbers {
  /** SHA-256 by which the lines of two batches are equal: of its content, or of its bytes if it cannot be read. */
  readonly contentHash: string;
}

/** {@link readLine}, wherever it runs. */
export type ReadLines = (document: Uint8Array) => Promise<ReadLine>;

/** The numbers and the content of a document that may have any fault; the full check comes later. */
export function readLine(document: Uint8Array): ReadLine {
  let root: unknown;
  try {
    // The parser of the check: what it refuses early would stop this process for seconds.
    root = parseDocument(document);
  } catch (error) {
    return { ...unreadLine(document), isJson: !(error instanceof JsonRefused && error.code === 'invalid_json') };
  }
  // The caller's reference beside the document is not part of the comparison.
  const { ECF } = (root ?? {}) as { readonly ECF?: unknown };
  const content = comparableJson(ECF === undefined ? root : { ECF });
  return { ...lineNumbers(root), contentHash: hash('sha256', content, 'hex') };
}

/** A document that cannot be read, or is too large (null). */
export function unreadLine(document: Uint8Array | null): ReadLine {
  return { ...NO_NUMBERS, contentHash: hash('sha256', document ?? '', 'hex') };
}

function lineNumbers(root: unknown): LineNumbers {
  const header = ['ECF', 'Encabezado'];
  const reference = ['ECF', 'InformacionReferencia'];
  return {
    encf: textAt(root, [...header, 'IdDoc', 'eNCF'], 13),
    issuerRnc: textAt(root, [...header, 'Emisor', 'RNCEmisor'], 11),
    ownReference: referenceOf(root),
    isJson: true,
    isOpen: leavesNumberOpen(root),
    refersTo: referredNumber({
      type: textAt(root, [...header, 'IdDoc', 'TipoeCF'], 2),
      total: textAt(root, [...header, 'Totales', 'MontoTotal'], 21),
      modified: textAt(root, [...reference, 'NCFModificado'], 19),
      isOfAnother: textAt(root, [...reference, 'RNCOtroContribuyente'], 11) !== null,
    }),
  };
}

/** The reference beside the document; null without a valid one, which refuses the line later. */
function referenceOf(root: unknown): string | null {
  const { reference } = (asSingle(root) ?? {}) as { reference?: unknown };
  return referenceSchema.safeParse(reference).data ?? null;
}

/**
 * A text, or a number as text, read in the same way as in the check of the document. Null if it is absent, longer than
 * `most`, or not a document number.
 */
function textAt(root: unknown, path: readonly string[], most: number): string | null {
  // A list of one value counts as that value, as in the check of the document.
  let value = asSingle(root);
  for (const name of path) value = asSingle((value as Record<string, unknown> | null | undefined)?.[name]);
  const text = leafText(value)?.trim() ?? null;
  return text !== null && text.length <= most && /^[\w.-]+$/.test(text) ? text : null;
}
