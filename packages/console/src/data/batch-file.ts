import { type CsvFile, decodeText, type Encoding, type Problem, readInvoices } from '@ecf/csv-invoices';
import { sha256 } from './digest.js';

/** The documents of a file that a person chose. */
export interface BatchFile {
  readonly name: string;
  readonly encoding: Encoding;
  /** A document in JSON on each line. */
  readonly lines: readonly string[];
  /** Where the file is CSV: its invoices, in the order of the lines. */
  readonly csv: CsvFile | null;
  /** Names these documents for the gateway: the same file has the same key. */
  readonly key: string;
}

/** Why a file is not sent: problems of CSV, or it is not a batch. */
export type FileProblem =
  | Problem
  | { readonly kind: 'bytes' | 'unreadable' }
  | { readonly kind: 'documents'; readonly count: number };

const MOST_BYTES = 100 * 1024 * 1024;
const MOST_DOCUMENTS = 10_000;

/** Reads NDJSON, a JSON array or CSV: what the content is, decides. */
export async function readBatchFile(chosen: File): Promise<BatchFile | readonly FileProblem[]> {
  if (chosen.size > MOST_BYTES) return [{ kind: 'bytes' }];
  const { text, encoding } = decodeText(new Uint8Array(await chosen.arrayBuffer()));
  const json = jsonLines(text);
  const csv = json === null ? readInvoices(text) : null;
  if (csv !== null && csv.problems.length > 0) return csv.problems;
  const lines = json ?? csv!.invoices.map(({ document, reference }) => JSON.stringify({ ...document, reference }));
  if (lines.length === 0) return [{ kind: 'empty' }];
  if (lines.length > MOST_DOCUMENTS) return [{ kind: 'documents', count: lines.length }];
  return { name: chosen.name, encoding, lines, csv, key: keyOf(lines) };
}

/** The documents of a JSON array, of one document, or of NDJSON; null for a text that begins otherwise. */
function jsonLines(text: string): string[] | null {
  const begin = text.trimStart()[0];
  if (begin !== '[' && begin !== '{') return null;
  try {
    const value: unknown = JSON.parse(text);
    return (Array.isArray(value) ? value : [value]).map((document) => JSON.stringify(document));
  } catch {
    return text.split('\n').filter((line) => line.trim() !== '');
  }
}

/**
 * A file of some lines of another, by their numbers from 1. `after` is the batch that refused them, under whose key they would
 * not be sent again.
 */
export function someLines(file: BatchFile, numbers: readonly number[], after?: string): BatchFile {
  const of = <T>(all: readonly T[]) => numbers.map((number) => all[number - 1] as T);
  const lines = of(file.lines);
  const csv = file.csv && { ...file.csv, invoices: of(file.csv.invoices) };
  return { ...file, lines, csv, key: keyOf(after === undefined ? lines : [after, ...lines]) };
}

const keyOf = (lines: readonly string[]) => `console-${sha256(lines.join('\n'))}`;
