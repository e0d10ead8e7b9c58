import { once } from 'node:events';

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
