import { unescapeText } from './characters.js';

export type XmlEvent = 'open' | 'close' | 'text' | 'cdata' | 'end';

/** One attribute behind the other. */
const ATTRIBUTE = /\s*([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/gy;

const NOT_WELL_FORMED = 'The scanner was given a document that is not well-formed';

/**
 * Goes over a document that a parser has found well-formed and free of DOCTYPE, event by event. Comments and
 * processing instructions are passed over; text, CDATA sections and references come as characters.
 */
export class XmlScanner {
  /** Name of the element just opened, with its prefix. */
  name = '';
  /** Characters of the text or CDATA section just met. */
  characters = '';
  /** Whether the element just opened has no separate end tag; no close event follows. */
  selfClosing = false;
  private at = 0;
  private attributesFrom = 0;
  private attributesTo = 0;

  constructor(private readonly source: string) {}

  next(): XmlEvent {
    const { source } = this;
    for (;;) {
      if (this.at >= source.length) return 'end';
      if (source.charCodeAt(this.at) !== 0x3c) return this.text();
      const mark = source.charCodeAt(this.at + 1);
      if (mark === 0x2f /* / */) return this.close();
      if (mark === 0x3f /* ? */) this.at = this.behind('?>', this.at + 2);
      else if (mark !== 0x21 /* ! */) return this.open();
      else if (source.charCodeAt(this.at + 2) === 0x5b /* [ */) return this.cdata();
      else this.at = this.behind('-->', this.at + 4);
    }
  }

  /**
   * The text of the element just opened and its end tag, when it holds nothing but text; otherwise null, and the
   * position does not change. The fast path for nearly every leaf.
   */
  simpleContent(): string | null {
    const { source, at } = this;
    const mark = source.indexOf('<', at);
    if (source.charCodeAt(mark + 1) !== 0x2f) return null;
    this.at = this.behind('>', mark);
    return unescapeText(source.slice(at, mark));
  }

  /** Whether the element just opened has attributes or namespace declarations. */
  get hasAttributes(): boolean {
    return this.attributesTo > this.attributesFrom;
  }

  /** Attributes and namespace declarations of the element just opened, as written, values unescaped. */
  attributes(): [name: string, value: string][] {
    const text = this.source.slice(this.attributesFrom, this.attributesTo);
    const found: [string, string][] = [];
    for (const match of text.matchAll(ATTRIBUTE)) {
      const raw = match[2] ?? match[3] ?? '';
      found.push([match[1]!, unescapeText(raw.replace(/[\t\n\r]/g, ' '))]);
    }
    return found;
  }

  /** Passes over the rest of the element just opened. */
  skipElement(): void {
    if (this.selfClosing) return;
    for (let depth = 1; depth > 0; ) {
      const event = this.next();
      if (event === 'open' && !this.selfClosing) depth++;
      else if (event === 'close') depth--;
      else if (event === 'end') return;
    }
  }

  private behind(mark: string, from: number): number {
    const found = this.source.indexOf(mark, from);
    if (found < 0) throw new Error(NOT_WELL_FORMED);
    return found + mark.length;
  }

  private text(): XmlEvent {
    const from = this.at;
    const to = this.source.indexOf('<', from);
    this.at = to < 0 ? this.source.length : to;
    this.characters = unescapeText(this.source.slice(from, this.at));
    return 'text';
  }

  private cdata(): XmlEvent {
    const from = this.at + 9;
    this.at = this.behind(']]>', from);
    this.characters = this.source.slice(from, this.at - 3);
    return 'cdata';
  }

  private close(): XmlEvent {
    this.at = this.behind('>', this.at + 2);
    return 'close';
  }

  private open(): XmlEvent {
    const { source } = this;
    let to = this.at + 1;
    let code = source.charCodeAt(to);
    while (code > 0x20 && code !== 0x3e && code !== 0x2f) code = source.charCodeAt(++to);
    this.name = source.slice(this.at + 1, to);
    const end = code === 0x3e ? to : endOfTag(source, to);
    this.selfClosing = source.charCodeAt(end - 1) === 0x2f;
    this.attributesFrom = to;
    this.attributesTo = this.selfClosing ? end - 1 : end;
    while (this.attributesTo > to && source.charCodeAt(this.attributesTo - 1) <= 0x20) this.attributesTo--;
    this.at = end + 1;
    return 'open';
  }
}

/** Where the `>` of a start tag stands; a quoted attribute value may contain others. */
function endOfTag(source: string, from: number): number {
  for (let at = from; at >= 0 && at < source.length; at++) {
    const code = source.charCodeAt(at);
    if (code === 0x3e) return at;
    if (code !== 0x22 && code !== 0x27) continue;
    at = source.indexOf(code === 0x22 ? '"' : "'", at + 1);
    if (at < 0) break;
  }
  throw new Error(NOT_WELL_FORMED);
}
