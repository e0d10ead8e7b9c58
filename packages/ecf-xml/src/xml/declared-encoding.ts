import { isAscii } from 'node:buffer';

/** Longest declaration that is read. */
const DECLARATION = 200;

/**
 * The bytes with a wrong declared encoding replaced by blanks, so that line and column of a fault stay right. Some senders
 * declare UTF-16 and send UTF-8. ASCII bytes are the same in each encoding that senders declare; others are left to be
 * refused. The declaration is not part of what is signed.
 */
export function withPlainDeclaration(bytes: Uint8Array): Uint8Array {
  const head = Buffer.from(bytes.subarray(0, DECLARATION)).toString('latin1');
  const found =
    /^(?:\u00ef\u00bb\u00bf)?<\?xml\s[^>]*?(\sencoding\s*=\s*(["'])(utf-16|iso-8859-1|windows-1252)\2)[^>]*\?>/i.exec(
      head,
    );
  const [whole, declared, , name] = found ?? [];
  if (whole === undefined || declared === undefined || name === undefined) return bytes;
  if (name.toLowerCase() !== 'utf-16' && !isAscii(bytes)) return bytes;
  const plain = Buffer.from(bytes);
  const at = whole.indexOf(declared);
  plain.fill(' ', at, at + declared.length);
  return plain;
}
