/** Tells on standard error how far a long run has come; short runs tell nothing. */
export class Progress {
  readonly #started = performance.now();
  #told = this.#started;
  #line = false;
  done = 0;
  atFault = 0;

  constructor(
    private readonly stream: NodeJS.WriteStream,
    private readonly quiet: boolean,
  ) {}

  count(valid: boolean): void {
    this.done++;
    if (!valid) this.atFault++;
  }

  /** On a terminal one line that is renewed, elsewhere a line every five seconds. */
  tell(): void {
    const now = performance.now();
    if (this.quiet || now - this.#told < (this.stream.isTTY ? 500 : 5_000)) return;
    this.#told = now;
    this.stream.write(this.stream.isTTY ? `\r${this.#summary()}\u001b[K` : `${this.#summary()}\n`);
    this.#line = this.stream.isTTY;
  }

  end(): void {
    if (this.quiet) return;
    this.stream.write(`${this.#line ? '\r' : ''}${this.#summary()}${this.#line ? '\u001b[K' : ''}\n`);
  }

  #summary(): string {
    const seconds = (performance.now() - this.#started) / 1000;
    const rate = seconds > 0.5 ? `, ${Math.round(this.done / seconds)} a second` : '';
    return `${this.done} ${this.done === 1 ? 'document' : 'documents'}, ${this.atFault} at fault${rate}`;
  }
}
