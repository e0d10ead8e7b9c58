import { type Block, linesOf } from '../input/blocks.js';
import { documentName, faultLines, printable } from '../output.js';
import { type CheckOptions, examineJsonText, unreadableDocument, type Verdict } from './examine.js';

/** Options of the rows; the workers get them unchanged. */
export interface Style extends CheckOptions {
  readonly json: boolean;
  /** The file of the lines; absent for standard input. */
  readonly file?: string;
}

/** The place of a document. */
export interface Place {
  readonly file?: string;
  readonly line?: number;
}

/** The rows of a block in their written form. */
export interface CheckedBlock {
  readonly text: string;
  readonly documents: number;
  readonly atFault: number;
}

/** More than any document has. A longer line is a fault and is skipped. */
export const LONGEST_LINE = 20 * 1024 * 1024;

/** Checks every line of a block, one row each. */
export function checkBlock({ first, bytes }: Block, style: Style): CheckedBlock {
  let text = '';
  let documents = 0;
  let atFault = 0;
  const add = (verdict: Verdict): void => {
    const place = { ...(style.file === undefined ? {} : { file: style.file }), line: first + documents };
    text += row(place, verdict, style.json);
    documents++;
    if (!verdict.valid) atFault++;
  };
  if (bytes === null) {
    add(unreadableDocument(`The line is longer than ${LONGEST_LINE} bytes; no document is.`, 'JSON (RFC 8259)'));
  } else {
    for (const line of linesOf(bytes)) add(examineJsonText(line, style));
  }
  return { text, documents, atFault };
}

/** One row, as JSON or for people. */
export function row(place: Place, verdict: Verdict, json: boolean): string {
  if (json) return `${JSON.stringify({ ...place, ...verdict })}\n`;
  const { document, type, encf, valid, faults, warnings } = verdict;
  const line = place.line === undefined ? '' : `line ${place.line}`;
  const where = [place.file, line].filter(Boolean).join(', ');
  const head = `${valid ? 'valid  ' : 'FAULTY '} ${documentName(document, type, encf)}  ${printable(where)}\n`;
  return head + faultLines([...faults, ...warnings]);
}
