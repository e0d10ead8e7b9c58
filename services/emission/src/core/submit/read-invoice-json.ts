import type { Environment } from '@ecf/domain';
import { leavesNumberOpen, underAnyNumber, underNumber, withoutNumber } from './automatic-number.js';
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
  /** Without number and filled-in expiry if the number is open and none is given; its key has a number all the same. */
  readonly invoice: Invoice;
}

/** Is told when a large document begins to be read, and when its reading ended without ending its thread. */
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

/** Parses, checks and writes the part `data`. 400 if it is not JSON or not an e-CF, or if the authority would reject it. */
export function readInvoiceJson(data: Uint8Array, env: Environment, now: Date, given: GivenNumber | null): InvoiceJson {
  const document = parseInvoiceJson(data);
  if (!leavesNumberOpen(document)) return { isOpen: false, invoice: shortened(readInvoice(document, env, now)) };
  const invoice =
    given === null
      ? withoutNumber(readInvoice(underAnyNumber(document), env, now), document)
      : readInvoice(underNumber(document, given.encf, given.expiry), env, now);
  return { isOpen: true, invoice: shortened(invoice) };
}

function shortened(invoice: Invoice): Invoice {
  return { ...invoice, tree: withoutLines(invoice.tree) };
}
