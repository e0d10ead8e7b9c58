/** Some whole lines of a stream. */
export interface Block {
  /** Number of the first line, counted from 1. */
  readonly first: number;
  /** The lines with their ends; null for a skipped line that is longer than `longest`. */
  readonly bytes: Uint8Array | null;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Cuts a stream of bytes at line ends, holding no more than one line and one chunk.
 *
 * @param longest of a line, in bytes
 */
export async function* blocksOf(stream: AsyncIterable<Uint8Array>, longest: number): AsyncGenerator<Block> {
  let first = 1;
  /** The beginning of a line whose end has not come yet; pieces beyond `longest` are counted only. */
  let pieces: Uint8Array[] = [];
  let length = 0;
  const keep = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > longest) pieces = [];
    else if (piece.length > 0) pieces.push(piece);
  };
  const take = (): Block => {
    const bytes = length > longest ? null : Buffer.concat(pieces);
    const block = { first, bytes };
    first += bytes === null ? 1 : countLines(bytes);
    pieces = [];
    length = 0;
    return block;
  };
  for await (const chunk of stream) {
    const end = chunk.indexOf(NEWLINE) + 1;
    const lastEnd = chunk.lastIndexOf(NEWLINE) + 1;
    if (end > 0) {
      keep(chunk.subarray(0, end));
      yield take();
      if (lastEnd > end) {
        keep(chunk.subarray(end, lastEnd));
        yield take();
      }
    }
    keep(chunk.subarray(lastEnd));
  }
  if (length > 0) yield take();
}

/** The lines of a block, without their ends; an end of CR and LF counts as one, the last line needs none. */
export function* linesOf(bytes: Uint8Array): Generator<Uint8Array> {
  for (let from = 0; from < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, from);
    const end = newline < 0 ? bytes.length : newline;
    yield bytes.subarray(from, end > from && bytes[end - 1] === RETURN ? end - 1 : end);
    from = end + 1;
  }
}

function countLines(bytes: Uint8Array): number {
  let lines = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) lines++;
  return lines;
}
