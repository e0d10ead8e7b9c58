import { MAX_BATCH_BYTES } from '@ecf/contracts';
import { blocksOf, linesOf } from '../input/blocks.js';

/** Bytes of a part, so that any number of lines needs the same memory. A longer line is its own part. */
const PART_BYTES = 32 * 1024 * 1024;
/** The longest line that a batch can take. */
const LONGEST = MAX_BATCH_BYTES - 1;

/** Lines of the input that become one batch, without blank ones; `null` is a line that no batch can take. */
export type Part = readonly Uint8Array[] | null;

/** Cuts the input into parts of at most `size` lines. The same input and size give the same parts. */
export async function* partsOf(input: AsyncIterable<Uint8Array>, size: number): AsyncGenerator<Part> {
  let lines: Uint8Array[] = [];
  let bytes = 0;
  const take = (): Part => {
    const part = lines;
    [lines, bytes] = [[], 0];
    return part;
  };
  for await (const block of blocksOf(input, LONGEST)) {
    if (block.bytes === null) {
      if (lines.length > 0) yield take();
      yield null;
      continue;
    }
    for (const line of linesOf(block.bytes)) {
      if (isBlank(line)) continue;
      if (lines.length > 0 && bytes + line.length > PART_BYTES) yield take();
      lines.push(line);
      bytes += line.length + 1;
      if (lines.length === size) yield take();
    }
  }
  if (lines.length > 0) yield take();
}

function isBlank(line: Uint8Array): boolean {
  return line.every((byte) => byte === 0x20 || byte === 0x09 || byte === 0x0d);
}
