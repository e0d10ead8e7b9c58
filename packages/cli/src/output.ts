import { once } from 'node:events';
import type { Fault } from '@ecf/domain';
import type { Verdict } from './check/examine.js';
import { type OptionValues, UsageError } from './options.js';

/**
 * JSON with `--json` or if another program reads; text for people on a terminal or with `--text`.
 */
export function wantsJson(values: OptionValues, stdout: NodeJS.WriteStream): boolean {
  if (values.json === true && values.text === true) throw new UsageError('--json and --text exclude each other.');
  return values.json === true || (values.text !== true && !stdout.isTTY);
}

const BLOCK = 64 * 1024;

/** Writes results in blocks, and waits while the reader at the other end is behind: memory stays constant. */
export class RowWriter {
  #pending = '';

  constructor(private readonly stream: NodeJS.WritableStream) {}

  async write(text: string): Promise<void> {
    this.#pending += text;
    if (this.#pending.length >= BLOCK) await this.flush();
  }

  async flush(): Promise<void> {
    const text = this.#pending;
    this.#pending = '';
    if (text !== '' && !this.stream.write(text)) await once(this.stream, 'drain');
  }
}

/** Documents' texts on a terminal: control characters could move its cursor or change what is shown. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern replaces them
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

/** Below this width, text is not wrapped any narrower. */
const NARROWEST = 40;

/** Lines of at most `columns` characters: the first has `indent` spaces before it, the others `hanging` spaces. */
export function wrapped(text: string, columns: number, indent: number, hanging = indent): string[] {
  const lines: string[] = [];
  let line = ' '.repeat(indent);
  let isEmpty = true;
  for (const word of text.split(' ')) {
    if (!isEmpty && line.length + 1 + word.length > Math.max(columns, NARROWEST)) {
      lines.push(line);
      line = ' '.repeat(hanging);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}

/** Faults or warnings, one per line, followed by the rule and its source. */
export function faultLines(faults: readonly Fault[]): string {
  return faults
    .map(({ path, message, rule, code, source, severity }) => {
      const place = path === '' ? '' : `${path}: `;
      const origin = [rule, ...(code === null ? [] : [`code ${code}`]), source].join(', ');
      return `    ${severity === 'warning' ? 'warning: ' : ''}${printable(`${place}${message} (${origin})`)}\n`;
    })
    .join('');
}

/** `e-CF 31 E310000000001`, as far as it is known. */
export function documentName(document: string | null, type: string | null, encf: string | null): string {
  const name = document === 'ECF' ? `e-CF ${type ?? ''}`.trim() : (document ?? 'not a document');
  return printable([name, ...(encf === null ? [] : [encf])].join(' '));
}

/** The faults of the document of a command that writes its result to standard output. */
export function complaints(file: string, { document, type, encf, valid, faults, warnings }: Verdict): string {
  if (valid && warnings.length === 0) return '';
  const name = documentName(document, type, encf);
  const head = `${file === '-' ? 'standard input' : file}: ${name} ${valid ? 'has warnings' : 'is at fault'}\n`;
  return head + faultLines([...faults, ...warnings]);
}

/**
 * Prints the progress of a run on standard error, and a summary at the end. A terminal gets one line that is rewritten,
 * other outputs get a line every five seconds.
 */
export class Progress {
  readonly #started = performance.now();
  #printedAt = this.#started;
  #line = false;
  done = 0;
  atFault = 0;

  constructor(
    private readonly stream: NodeJS.WriteStream,
    private readonly quiet: boolean,
  ) {}

  add(documents: number, atFault: number): void {
    this.done += documents;
    this.atFault += atFault;
    const now = performance.now();
    if (this.quiet || now - this.#printedAt < (this.stream.isTTY ? 500 : 5_000)) return;
    this.#printedAt = now;
    this.stream.write(this.stream.isTTY ? `\r${this.#summary()}\u001b[K` : `${this.#summary()}\n`);
    this.#line = this.stream.isTTY;
  }

  end(): void {
    if (this.quiet || this.done < 2) return;
    this.stream.write(`${this.#line ? '\r' : ''}${this.#summary()}${this.#line ? '\u001b[K' : ''}\n`);
  }

  #summary(): string {
    const seconds = (performance.now() - this.#started) / 1000;
    const rate = seconds > 0.5 ? `, ${Math.round(this.done / seconds)} a second` : '';
    return `${this.done} ${this.done === 1 ? 'document' : 'documents'}, ${this.atFault} at fault${rate}`;
  }
}
