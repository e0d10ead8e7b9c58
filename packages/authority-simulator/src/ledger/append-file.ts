import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';

/**
 * A file that only grows. The operating system has a write when `append` returns, so it survives a crash of the process. An
 * incomplete write is removed.
 */
export class AppendFile {
  readonly #fd: number;
  #size: number;

  constructor(path: string) {
    this.#fd = openSync(path, 'a+', 0o600);
    this.#size = fstatSync(this.#fd).size;
  }

  get size(): number {
    return this.#size;
  }

  /** Appends all bytes or none; returns their offset. */
  append(bytes: Uint8Array): number {
    const offset = this.#size;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(this.#fd, bytes, written, bytes.length - written);
    } catch (error) {
      if (written > 0) ftruncateSync(this.#fd, offset);
      throw error;
    }
    this.#size += written;
    return offset;
  }

  read(offset: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length);
    let done = 0;
    while (done < length) {
      const count = readSync(this.#fd, bytes, done, length - done, offset + done);
      if (count === 0) throw new Error(`The file ends before ${offset + length}`);
      done += count;
    }
    return bytes;
  }

  truncate(size = 0): void {
    ftruncateSync(this.#fd, size);
    this.#size = size;
  }

  close(): void {
    closeSync(this.#fd);
  }
}
