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
