/** How a file was written. `windows-1252` is what a spreadsheet writes that does not write UTF-8. */
export type Encoding = 'utf-8' | 'utf-16le' | 'windows-1252';

/** The text of a file, without its byte order mark. */
export function decodeText(bytes: Uint8Array): { text: string; encoding: Encoding } {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return { text: decode('utf-16le', bytes), encoding: 'utf-16le' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), encoding: 'utf-8' };
  } catch {
    return { text: decode('windows-1252', bytes), encoding: 'windows-1252' };
  }
}

function decode(encoding: Encoding, bytes: Uint8Array): string {
  return new TextDecoder(encoding).decode(bytes);
}
