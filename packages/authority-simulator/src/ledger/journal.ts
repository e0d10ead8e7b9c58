import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import type { DocumentNode, Environment } from '@ecf/domain';
import type { Place, Submission } from './submission.js';
import type { Taxpayer } from './taxpayers.js';

/** An entry of the journal: one JSON object per line, in the order of the events. */
export type JournalEntry =
  /** A document that arrived; `xml` has its bytes in Base64. It counts as answered unless a later entry says otherwise. */
  | (Omit<Submission, 'answered' | 'place'> & { readonly t: 'submission'; readonly xml: string })
  /** The caller of a submission got no answer after all. */
  | { readonly t: 'unanswered'; readonly id: number }
  /** The authority restarted the certification set of a taxpayer. */
  | { readonly t: 'restarted'; readonly env: Environment; readonly rnc: string }
  /** The fault that kept documents in process has ended. Null: every such fault. */
  | { readonly t: 'released'; readonly fault: string | null; readonly at: number }
  | { readonly t: 'taxpayer'; readonly taxpayer: Taxpayer }
  | { readonly t: 'taxpayer-removed'; readonly rnc: string }
  | { readonly t: 'certification'; readonly rnc: string; readonly documents: readonly DocumentNode[] }
  /** The key of the tokens, in Base64: they outlive a restart as the authority's do. */
  | { readonly t: 'token-key'; readonly key: string };

const ABOUT_DOCUMENTS: ReadonlySet<JournalEntry['t']> = new Set(['submission', 'unanswered', 'restarted', 'released']);
const CHUNK = 1 << 20;

/**
 * The simulator's memory: a file that only grows, or a list in memory. The operating system has a line when `append` returns, so it
 * survives a crash of the process.
 */
export class Journal {
  readonly #fd: number | null = null;
  #size = 0;
  #lines: string[] = [];

  /** @param path null: in memory only */
  constructor(path: string | null) {
    if (path === null) return;
    this.#fd = openSync(path, 'a+', 0o600);
    this.#size = fstatSync(this.#fd).size;
  }

  /** Appends the whole entry or none of it. */
  append(entry: JournalEntry): Place {
    const line = `${JSON.stringify(entry)}\n`;
    if (this.#fd === null) return { offset: this.#lines.push(line) - 1, length: line.length };
    const bytes = Buffer.from(line, 'utf8');
    const offset = this.#size;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written, bytes.length - written);
    } catch (error) {
      if (written > 0) ftruncateSync(this.#fd, offset);
      throw error;
    }
    this.#size += written;
    return { offset, length: bytes.length };
  }

  read({ offset, length }: Place): JournalEntry {
    return JSON.parse(this.#lines[offset] ?? this.#bytes(offset, length).toString('utf8')) as JournalEntry;
  }

  /**
   * Reads all entries. A last line that was not finished is cut off: its caller had no answer yet.
   *
   * @throws Error naming the line that cannot be read
   */
  *entries(): Generator<readonly [JournalEntry, Place]> {
    for (const [offset, line] of this.#lines.entries())
      yield [JSON.parse(line) as JournalEntry, { offset, length: line.length }];
    let rest = Buffer.alloc(0);
    let line = 0;
    let at = 0;
    for (let read = 0; read < this.#size; read += CHUNK) {
      rest = Buffer.concat([rest, this.#bytes(read, Math.min(CHUNK, this.#size - read))]);
      let start = 0;
      for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10, start)) {
        line += 1;
        const length = end + 1 - start;
        yield [entryOf(rest.toString('utf8', start, end), line), { offset: at, length }];
        at += length;
        start = end + 1;
      }
      rest = rest.subarray(start);
    }
    if (rest.length === 0 || this.#fd === null) return;
    ftruncateSync(this.#fd, at);
    this.#size = at;
  }

  /** Removes the entries about documents. */
  forgetDocuments(): void {
    const kept = [...this.entries()].map(([entry]) => entry).filter(({ t }) => !ABOUT_DOCUMENTS.has(t));
    this.#lines = [];
    this.#size = 0;
    if (this.#fd !== null) ftruncateSync(this.#fd, 0);
    for (const entry of kept) this.append(entry);
  }

  close(): void {
    if (this.#fd !== null) closeSync(this.#fd);
  }

  #bytes(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (this.#fd !== null && done < length) {
      const count = readSync(this.#fd, bytes, done, length - done, offset + done);
      if (count === 0) throw new Error(`The journal ends before ${offset + length}.`);
      done += count;
    }
    return bytes;
  }
}

function entryOf(text: string, line: number): JournalEntry {
  try {
    return JSON.parse(text) as JournalEntry;
  } catch (cause) {
    throw new Error(`Line ${line} of the simulator's journal is damaged; remove its data folder to begin anew.`, {
      cause,
    });
  }
}
