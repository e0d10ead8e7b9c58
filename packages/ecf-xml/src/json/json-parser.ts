import { positionOf } from '../utf8.js';
import { JsonRefused, type JsonRefusedCode } from './json-refused.js';

/** Makes the parsed value of a number from its text. */
export type NumberOf = (stated: string) => unknown;

/** Our documents are seven levels deep; a list of one may stand around every value. */
const MAX_DEPTH = 64;

/** From this number of characters on, the engine decodes the escapes of a string faster. */
const LONG_STRING = 256;

/** No document holds more: a note of 10,000 lines with all its optional elements has 1.9 million values. */
export const MAX_VALUES = 2_000_000;

/** The longest lists of our documents have 10,000 entries. */
const MAX_LIST = 100_000;

/**
 * Our documents use 300 names at any length. Names are counted only after more keys than most documents have, because bodies
 * whose keys all differ cost the most.
 */
const MAX_NAMES = 2_000;
const KEYS_NOT_COMPARED = 20_000;

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const CONTROL = /[\0-\x1f]/;

const QUOTE = 0x22;
const COMMA = 0x2c;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const NONE: readonly string[] = [];

/** The content of a string with its escapes decoded; null if there is a fault in it. */
function decodeEscapes(content: string): string | null {
  try {
    return JSON.parse(`"${content}"`) as string;
  } catch {
    return null;
  }
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : NONE;
}

/** Reads one text, strictly; see `parseJson`. */
export class JsonParser {
  private at = 0;
  private depth = 0;
  private values = 0;
  private keys = 0;
  private names: Set<string> | null = null;
  /** Without escapes and controls every string ends at the next quote, and a program that writes one line uses neither. */
  private readonly isPlain: boolean;

  constructor(
    private readonly text: string,
    private readonly numberOf: NumberOf,
    private readonly maxValues: number,
  ) {
    if (text.charCodeAt(0) === 0xfeff) this.at = 1;
    this.isPlain = !text.includes('\\') && !CONTROL.test(text);
  }

  document(): unknown {
    const value = this.value();
    this.next();
    if (this.at < this.text.length) throw this.unexpected('the end of the document');
    return value;
  }

  private value(): unknown {
    const code = this.next();
    if (++this.values > this.maxValues) throw this.tooManyValues();
    if (code === QUOTE) return this.string();
    if (code === 0x7b /* { */) return this.object();
    if (code === 0x5b /* [ */) return this.array();
    return this.bare(code);
  }

  /** A value that is neither string nor group. */
  private bare(code: number): unknown {
    if (code === 0x2d /* - */ || (code >= 0x30 && code <= 0x39)) return this.numberOf(this.number());
    if (this.literal('true')) return true;
    if (this.literal('false')) return false;
    if (this.literal('null')) return null;
    throw this.unexpected('a value');
  }

  /** @param expected keys that are likely to come, in order */
  private object(expected: readonly string[] = NONE): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const start = this.at;
    let keys = 0;
    this.enter();
    if (this.next() === 0x7d) return this.leave(object);
    for (;;) {
      if (this.next() !== QUOTE) throw this.unexpected('a key in double quotes');
      const { at } = this;
      const key = this.key(expected[keys]);
      if (++this.keys > KEYS_NOT_COMPARED) this.countKey(key, at);
      if (this.next() !== 0x3a) throw this.unexpected('a colon');
      this.at++;
      if (key === '__proto__') throw this.refuse('forbidden_key', 'The key "__proto__" is not allowed', at);
      object[key] = this.value();
      keys++;
      const mark = this.next();
      if (mark === 0x7d) break;
      if (mark !== COMMA) throw this.unexpected('a comma or }');
      this.at++;
    }
    if (Object.keys(object).length < keys) {
      throw this.refuse('duplicate_key', 'A key appears twice in the object that begins here', start);
    }
    return this.leave(object);
  }

  private key(expected: string | undefined): string {
    if (expected === undefined) return this.string();
    const from = this.at + 1;
    const end = from + expected.length;
    if (this.text.charCodeAt(end) !== QUOTE || !this.text.startsWith(expected, from)) return this.string();
    this.at = end + 1;
    return expected;
  }

  private countKey(key: string, at: number): void {
    this.names ??= new Set();
    if (this.names.add(key).size > MAX_NAMES) {
      throw this.refuse('too_many_keys', `The document has more than ${MAX_NAMES} different keys`, at);
    }
  }

  private array(): unknown[] {
    const array: unknown[] = [];
    let expected = NONE;
    this.enter();
    if (this.next() === 0x5d) return this.leave(array);
    for (;;) {
      if (array.push(this.entry(expected)) > MAX_LIST) {
        throw this.refuse('too_many_values', `A list has more than ${MAX_LIST} entries`, this.at);
      }
      const mark = this.next();
      if (mark === 0x5d) return this.leave(array);
      if (mark !== COMMA) throw this.unexpected('a comma or ]');
      this.at++;
      // Lines of detail mostly have the same keys in the same order; those need not be cut out of the text again.
      if (expected === NONE && this.isPlain) expected = keysOf(array[0]);
    }
  }

  private entry(expected: readonly string[]): unknown {
    if (expected === NONE || this.next() !== 0x7b) return this.value();
    if (++this.values > this.maxValues) throw this.tooManyValues();
    return this.object(expected);
  }

  private string(): string {
    const { text } = this;
    const from = this.at + 1;
    const end = this.isPlain ? text.indexOf('"', from) : -1;
    if (end < 0) return this.scannedString(from);
    this.at = end + 1;
    return text.slice(from, end);
  }

  private scannedString(from: number): string {
    const { text } = this;
    let to = from;
    let code = text.charCodeAt(to);
    while (code !== QUOTE && code !== 0x5c && code >= 0x20) code = text.charCodeAt(++to);
    this.at = to;
    if (code !== QUOTE) return text.slice(from, to) + this.restOfString();
    this.at = to + 1;
    return text.slice(from, to);
  }

  /** From the first escape on. */
  private restOfString(): string {
    const { text } = this;
    const end = this.endOfString();
    if (end - this.at > LONG_STRING && text.charCodeAt(end) === QUOTE) {
      const decoded = decodeEscapes(text.slice(this.at, end));
      if (decoded !== null) {
        this.at = end + 1;
        return decoded;
      }
    }
    let out = '';
    for (;;) {
      const code = text.charCodeAt(this.at);
      if (code === 0x22) {
        this.at++;
        return out;
      }
      if (code === 0x5c) {
        out += this.escape();
      } else if (code >= 0x20) {
        const from = this.at;
        let next = code;
        while (next !== 0x22 && next !== 0x5c && next >= 0x20) next = text.charCodeAt(++this.at);
        out += text.slice(from, this.at);
      } else {
        throw this.unexpected(Number.isNaN(code) ? 'a closing quote' : 'an escape such as \\n');
      }
    }
  }

  /** Index of the quote that ends the string; that of no character if there is none. */
  private endOfString(): number {
    const { text } = this;
    let { at } = this;
    for (let code = text.charCodeAt(at); code !== QUOTE && at < text.length; code = text.charCodeAt(at))
      at += code === 0x5c ? 2 : 1;
    return at;
  }

  private escape(): string {
    const letter = this.text[this.at + 1] ?? '';
    const plain = ESCAPES[letter];
    if (plain !== undefined) {
      this.at += 2;
      return plain;
    }
    const hex = this.text.slice(this.at + 2, this.at + 6);
    if (letter !== 'u' || !/^[0-9a-fA-F]{4}$/.test(hex)) throw this.unexpected('an escape of JSON');
    this.at += 6;
    return String.fromCharCode(Number.parseInt(hex, 16));
  }

  private number(): string {
    NUMBER.lastIndex = this.at;
    const match = NUMBER.exec(this.text);
    if (!match) throw this.unexpected('a number');
    this.at = NUMBER.lastIndex;
    return match[0];
  }

  private literal(word: string): boolean {
    if (!this.text.startsWith(word, this.at)) return false;
    this.at += word.length;
    return true;
  }

  /** Passes over blanks; gives the code unit behind them, NaN at the end. */
  private next(): number {
    const code = this.text.charCodeAt(this.at);
    return code > 0x20 ? code : this.nextBehindBlanks();
  }

  private nextBehindBlanks(): number {
    let code = this.text.charCodeAt(this.at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.text.charCodeAt(++this.at);
    return code;
  }

  private enter(): void {
    if (++this.depth > MAX_DEPTH) {
      throw this.refuse('too_deep', `Objects and lists are nested more than ${MAX_DEPTH} deep`, this.at);
    }
    this.at++;
  }

  /** Passes over the bracket that ends an object or list. */
  private leave<T>(value: T): T {
    this.depth--;
    this.at++;
    return value;
  }

  private tooManyValues(): JsonRefused {
    return this.refuse('too_many_values', `The document has more than ${this.maxValues} values`, this.at);
  }

  private unexpected(wanted: string): JsonRefused {
    const found =
      this.at < this.text.length ? JSON.stringify(String.fromCodePoint(this.text.codePointAt(this.at)!)) : 'the end';
    return this.refuse('invalid_json', `The JSON is not valid: expected ${wanted}, found ${found}`, this.at);
  }

  private refuse(code: JsonRefusedCode, message: string, at: number): JsonRefused {
    const { line, column } = positionOf(this.text, at);
    return new JsonRefused(code, `${message} (line ${line}, column ${column}).`, line, column);
  }
}
