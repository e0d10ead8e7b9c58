/**
 * Reads canonical text that a real parser produced. Inclusive Canonical XML without comments is regular: no prolog, no
 * CDATA, no self-closing tags, `<` only at the start of a tag. Attributes are ` name="value"` with one blank, and namespace
 * declarations occur only if they differ from the parent's.
 */
export interface Attribute {
  readonly name: string;
  /** As it stands, escapes included. */
  readonly raw: string;
}

export interface StartTag {
  readonly start: number;
  /** Just after its `>`. */
  readonly end: number;
  /** Qualified name. */
  readonly name: string;
  readonly nameEnd: number;
}

const SLASH = 47;
const BLANK = 32;
const QUOTE = 34;
const END = 62;

/** True when the `<` at `at` begins an end tag. */
export function isEndTag(text: string, at: number): boolean {
  return text.charCodeAt(at + 1) === SLASH;
}

/** The start tag that begins at `start`. A `>` may stand inside an attribute's value. */
export function startTag(text: string, start: number): StartTag {
  let nameEnd = -1;
  let at = start + 1;
  for (; ; at++) {
    const code = text.charCodeAt(at);
    if (code === END) break;
    if (code === BLANK && nameEnd < 0) nameEnd = at;
    else if (code === QUOTE) at = text.indexOf('"', at + 1);
    if (at < 0 || at >= text.length) throw new RangeError('not canonical text');
  }
  if (nameEnd < 0) nameEnd = at;
  return { start, end: at + 1, name: text.slice(start + 1, nameEnd), nameEnd };
}

/** The attributes of a tag in their order, namespace declarations among them. */
export function attributesOf(text: string, tag: StartTag): Attribute[] {
  if (tag.nameEnd === tag.end - 1) return [];
  const attributes: Attribute[] = [];
  for (let at = tag.nameEnd; at < tag.end - 1; ) {
    const equals = text.indexOf('="', at);
    const close = text.indexOf('"', equals + 2);
    attributes.push({ name: text.slice(at + 1, equals), raw: text.slice(equals + 2, close) });
    at = close + 1;
  }
  return attributes;
}

/** `ds` of `ds:Signature`, or the empty text. */
export function prefixOf(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 ? '' : name.slice(0, colon);
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1);
}

/** The prefix that an attribute declares, empty for the default namespace; null when it declares none. */
export function declaredPrefix(name: string): string | null {
  if (name === 'xmlns') return '';
  return name.startsWith('xmlns:') ? name.slice(6) : null;
}
