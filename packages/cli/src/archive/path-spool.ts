import { createHash } from 'node:crypto';
import { appendFileSync, createReadStream, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

const PARTS = 256;
const BUFFERED = 16_384;

/**
 * Two sets of paths of any size in temporary files. A digest splits them into 256 parts, so their difference needs the
 * memory of one part.
 */
export class PathSpool {
  private readonly folder = mkdtempSync(path.join(tmpdir(), 'ecf-archive-'));
  private readonly buffers = new Map<string, string>();

  add(set: 'present' | 'known', name: string): void {
    const file = this.file(set, createHash('sha256').update(name).digest()[0] as number);
    const text = `${this.buffers.get(file) ?? ''}${name}\n`;
    if (text.length < BUFFERED) this.buffers.set(file, text);
    else {
      appendFileSync(file, text);
      this.buffers.delete(file);
    }
  }

  /** The present but unknown paths. Paths cannot be added afterwards. */
  async *unknown(): AsyncGenerator<string> {
    for (const [file, text] of this.buffers) appendFileSync(file, text);
    this.buffers.clear();
    for (let part = 0; part < PARTS; part += 1) {
      const present = this.file('present', part);
      if (!existsSync(present)) continue;
      const known = this.file('known', part);
      const names = new Set(existsSync(known) ? readFileSync(known, 'utf8').split('\n') : []);
      for await (const name of createInterface({ input: createReadStream(present) })) if (!names.has(name)) yield name;
    }
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  private file(set: string, part: number): string {
    return path.join(this.folder, `${set}-${part}`);
  }
}
