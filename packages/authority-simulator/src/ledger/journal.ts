import type { Environment } from '@ecf/domain';
import { AppendFile } from './append-file.js';
import type { Submission } from './submission.js';

/** An entry of the journal: one JSON object a line, in the order of the events. */
export type JournalEntry =
  | ({ readonly t: 'submission' } & Submission)
  /** The caller of a submission got no answer after all. */
  | { readonly t: 'unanswered'; readonly id: number }
  /** The authority restarted the certification set of a taxpayer. */
  | { readonly t: 'restarted'; readonly env: Environment; readonly rnc: string }
  /** The fault that kept documents in process has ended. Null: every such fault. */
  | { readonly t: 'released'; readonly fault: string | null; readonly at: number };

const CHUNK = 1 << 20;

/** The ledger's memory on disk. */
export class Journal {
  readonly #file: AppendFile;

  constructor(path: string) {
    this.#file = new AppendFile(path);
  }

  append(entry: JournalEntry): void {
    this.#file.append(Buffer.from(`${JSON.stringify(entry)}\n`, 'utf8'));
  }

  /**
   * Reads all entries. A last line that was not finished is cut off: its caller had no answer yet.
   *
   * @throws Error naming the line that cannot be read
   */
  *entries(): Generator<JournalEntry> {
    let rest: Buffer = Buffer.alloc(0);
    let line = 0;
    let consumed = 0;
    for (let offset = 0; offset < this.#file.size; offset += CHUNK) {
      const chunk = this.#file.read(offset, Math.min(CHUNK, this.#file.size - offset));
      const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let start = 0;
      for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
        line += 1;
        yield entryOf(bytes.toString('utf8', start, end), line);
        consumed += end + 1 - start;
        start = end + 1;
      }
      rest = bytes.subarray(start);
    }
    if (rest.length > 0) this.#file.truncate(consumed);
  }

  clear(): void {
    this.#file.truncate();
  }

  close(): void {
    this.#file.close();
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
