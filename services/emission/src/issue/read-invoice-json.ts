import { referenceSchema } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { asSingle } from '@ecf/ecf-xml';
import { invalidRequest } from '../errors.js';
import {
  blankNumberWarnings,
  leavesNumberOpen,
  underAnyNumber,
  underNumber,
  withoutNumber,
} from '../numbers/automatic-number.js';
import { type Invoice, parseInvoiceJson, readInvoice, withoutLines } from './invoice-json.js';

/** The number of a document that leaves it open; the expiry is filled in where the document states none. */
export interface GivenNumber {
  readonly encf: string;
  readonly expiry: string | null;
}

/** An invoice in JSON that was read. Its tree lacks the lines, which only the written text holds. */
export interface InvoiceJson {
  /** Whether the document leaves its number to the service. */
  readonly isOpen: boolean;
  /** The caller's own reference that a batch line states beside its document; null without one. */
  readonly ownReference: string | null;
  /** Without number and filled-in expiry if the number is open and none is given; its key has a number all the same. */
  readonly invoice: Invoice;
}

/** Called when the reading of a large document begins, and when it ended without ending its thread. */
export interface ReadingWatch {
  begins(): Promise<void>;
  ended(): Promise<void>;
}

/** {@link readInvoiceJson}, wherever it runs; accounts take turns. */
export type ReadInvoiceJson = (
  ...reading: [...Parameters<typeof readInvoiceJson>, watch: ReadingWatch | null, accountId: string]
) => Promise<InvoiceJson>;

/** 150 lines. The check of the worst document of this size takes 20 ms. */
const LARGEST_SMALL = 64 * 1024;

/** Whether the check of a document may take longer than the event loop can be kept busy. */
export function isLargeInvoice(data: Uint8Array): boolean {
  return data.length > LARGEST_SMALL;
}

/**
 * Parses, checks and writes the part `data`, or a batch line, which may state `reference` beside its document. 400 if it is not
 * JSON or not an e-CF, or if the authority would reject it; 422 for another reference than contracts allow.
 */
export function readInvoiceJson(
  data: Uint8Array,
  env: Environment,
  now: Date,
  given: GivenNumber | null,
  isBatchLine: boolean,
): InvoiceJson {
  const parsed = parseInvoiceJson(data);
  const { document, ownReference } = isBatchLine ? withoutReference(parsed) : { document: parsed, ownReference: null };
  if (!leavesNumberOpen(document))
    return { isOpen: false, ownReference, invoice: shortened(readInvoice(document, env, now)) };
  const invoice =
    given === null
      ? withoutNumber(readInvoice(underAnyNumber(document), env, now), document)
      : readInvoice(underNumber(document, given.encf, given.expiry), env, now);
  const warnings = [...invoice.warnings, ...blankNumberWarnings(document)];
  return { isOpen: true, ownReference, invoice: shortened({ ...invoice, warnings }) };
}

/** A batch line as its document and the caller's own reference. */
function withoutReference(line: unknown): { document: unknown; ownReference: string | null } {
  const root = asSingle(line);
  if (typeof root !== 'object' || root === null || !('reference' in root))
    return { document: line, ownReference: null };
  const { reference, ...document } = root;
  if (reference === null) return { document, ownReference: null };
  const read = referenceSchema.safeParse(reference);
  if (!read.success)
    throw invalidRequest(['body', 'reference'], 'a reference has 1 to 100 printable ASCII characters', 'reference');
  return { document, ownReference: read.data };
}

function shortened(invoice: Invoice): Invoice {
  return { ...invoice, tree: withoutLines(invoice.tree) };
}
