const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });
/** Writes U+FFFD for bytes that are not UTF-8, and keeps a byte order mark. */
const lenient = new TextDecoder('utf-8', { ignoreBOM: true });

/** The text of UTF-8 bytes without their byte order mark, or the offset of the first byte that breaks the encoding. */
export function decodeUtf8(bytes: Uint8Array): { text: string } | { badOffset: number } {
  try {
    return { text: decoder.decode(bytes) };
  } catch {
    return { badOffset: firstBadByte(bytes) };
  }
}

/** The start of the first character that is not the same after it was decoded and encoded again. */
function firstBadByte(bytes: Uint8Array): number {
  const encoded = new TextEncoder().encode(lenient.decode(bytes));
  let at = 0;
  while (at < bytes.length && encoded[at] === bytes[at]) at++;
  // Bytes inside a character are 10xxxxxx.
  while (((encoded[at] ?? 0) & 0xc0) === 0x80) at--;
  return at;
}

/** Line and column, counted from 1, of an offset in a text. */
export function positionOf(text: string, offset: number): { line: number; column: number } {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf('\n'); at >= 0 && at < offset; at = text.indexOf('\n', at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return { line, column: offset - lineStart + 1 };
}
