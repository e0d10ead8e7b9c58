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
  const [, start = '', attributes = ''] = /^((?:\u00ef\u00bb\u00bf)?<\?xml\s)([^>]*)\?>/i.exec(head) ?? [];
  const found = /\sencoding\s*=\s*("utf-16"|"iso-8859-1"|"windows-1252"|'utf-16'|'iso-8859-1'|'windows-1252')/i.exec(
    attributes,
  );
  const [declared, name] = found ?? [];
  if (found === null || declared === undefined || name === undefined) return bytes;
  if (name.slice(1, -1).toLowerCase() !== 'utf-16' && !isAscii(bytes)) return bytes;
  const plain = Buffer.from(bytes);
  const at = start.length + found.index;
  plain.fill(' ', at, at + declared.length);
  return plain;
}
