/** One line of a stream, without its line end. */
export interface Line {
  /** Counted from 1. */
  readonly number: number;
  /** Null where the line is longer than `longest`: it was skipped, not kept. */
  readonly bytes: Uint8Array | null;
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;

/**
 * Cuts a stream of bytes into its lines, holding no more than one line and one chunk. A line end of CR and LF counts
 * as one; the last line needs none.
 *
 * @param longest of a line, in bytes
 */
export async function* linesOf(stream: AsyncIterable<Uint8Array>, longest: number): AsyncGenerator<Line[]> {
  let number = 1;
  let pending: Uint8Array[] = [];
  let length = 0;
  const finish = (piece: Uint8Array): Line => {
    length += piece.length;
    const bytes =
      length > longest ? null : withoutReturn(pending.length === 0 ? piece : Buffer.concat([...pending, piece]));
    pending = [];
    length = 0;
    return { number: number++, bytes };
  };
  for await (const chunk of stream) {
    const lines: Line[] = [];
    let from = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, from)) {
      lines.push(finish(chunk.subarray(from, end)));
      from = end + 1;
    }
    if (from < chunk.length) {
      length += chunk.length - from;
      if (length > longest) pending = [];
      else pending.push(chunk.subarray(from));
    }
    if (lines.length > 0) yield lines;
  }
  if (length > 0) yield [{ number, bytes: length > longest ? null : withoutReturn(Buffer.concat(pending)) }];
}

function withoutReturn(bytes: Uint8Array): Uint8Array {
  return bytes[bytes.length - 1] === RETURN ? bytes.subarray(0, -1) : bytes;
}
