import { isUtf8 } from 'node:buffer';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false });

/** The text of UTF-8 bytes without their byte order mark, or the offset of the first byte that breaks the encoding. */
export function decodeUtf8(bytes: Uint8Array): { text: string } | { badOffset: number } {
  return isUtf8(bytes) ? { text: decoder.decode(bytes) } : { badOffset: firstBadByte(bytes) };
}

function firstBadByte(bytes: Uint8Array): number {
  let at = 0;
  while (at < bytes.length) {
    const lead = bytes[at]!;
    const length = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (length > 1 && !isUtf8(bytes.subarray(at, at + length))) return at;
    at += length;
  }
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
