/**
 * Characters that XML 1.0 cannot carry: controls other than tab, LF and CR, lone surrogates, two code points that are
 * no characters.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const UNCARRIABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/u;

const CANONICAL: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '\r': '&#xD;' };

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const SPECIAL = /[\0-\x1f&<>\ud800-\uffff]/;

/** From this number of characters on, an expression is faster than a loop. */
const LONG = 20;

/** Whether the text is free of everything that is special in XML or to a caller; says no too often rather than too rarely. */
export function isPlain(text: string): boolean {
  if (text.length > LONG) return !SPECIAL.test(text);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x20 || code === 0x26 || code === 0x3c || code === 0x3e || code >= 0xd800) return false;
  }
  return true;
}

/** Whether XML 1.0 can carry every character (no controls but tab, LF and CR, no lone surrogates, no U+FFFE, U+FFFF). */
export function isCarriable(text: string): boolean {
  return isPlain(text) || !UNCARRIABLE.test(text);
}

/**
 * The text as Canonical XML writes it in element content.
 *
 * @throws RangeError when XML cannot carry it
 */
export function escapeText(text: string): string {
  if (isPlain(text)) return text;
  if (UNCARRIABLE.test(text)) throw new RangeError('The text holds a character that XML cannot carry');
  return text.replace(/[&<>\r]/g, (c) => CANONICAL[c]!);
}

const XML_ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

/** The characters behind raw XML text: predefined entities and character references, in a document already well-formed. */
export function unescapeText(raw: string): string {
  let at = raw.indexOf('&');
  if (at < 0) return raw;
  let text = '';
  let from = 0;
  // Piece by piece: a million references are a stranger's to send, and `replace` would keep a list of them all.
  for (; at >= 0; at = raw.indexOf('&', from)) {
    const end = raw.indexOf(';', at);
    if (end < 0) break;
    const name = raw.slice(at + 1, end);
    text += raw.slice(from, at) + (XML_ENTITIES[name] ?? reference(name));
    from = end + 1;
  }
  return text + raw.slice(from);
}

/** Entities that callers write into values before they send them: XML's and three of HTML's. */
const CALLER_ENTITIES: Readonly<Record<string, string>> = { ...XML_ENTITIES, copy: '©', euro: '€', reg: '®' };

const CALLER_ENTITY = /&(?:(amp|lt|gt|quot|apos|copy|euro|reg)|(#[0-9]+|#x[0-9a-fA-F]+));/g;

/** Decodes values that a caller escaped already, once; what is not a known entity stays as it is. */
export function decodeCallerEntities(text: string): string {
  let decoded = '';
  let from = 0;
  // Piece by piece, as in `unescapeText`.
  for (const found of text.matchAll(CALLER_ENTITY)) {
    decoded += text.slice(from, found.index) + (found[1] ? CALLER_ENTITIES[found[1]]! : reference(found[2]!));
    from = found.index + found[0].length;
  }
  return from === 0 ? text : decoded + text.slice(from);
}

/** The character of `#NN` or `#xHH`; U+FFFF, which no text can carry, for one that does not exist. */
function reference(name: string): string {
  const codePoint = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : '\uffff';
}
