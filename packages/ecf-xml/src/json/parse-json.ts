import { decodeUtf8, positionOf } from '../utf8.js';

export type JsonRefusedCode =
  | 'not_utf8'
  | 'invalid_json'
  | 'too_deep'
  | 'too_large'
  | 'too_many_values'
  | 'too_many_keys'
  | 'forbidden_key'
  | 'duplicate_key';

/** The text is no JSON that we would read. Line and column count from 1. */
export class JsonRefused extends Error {
  override readonly name = 'JsonRefused';
  constructor(
    readonly code: JsonRefusedCode,
    message: string,
    readonly line: number | null = null,
    readonly column: number | null = null,
  ) {
    super(message);
  }
}

export const MAX_JSON_BYTES = 20 * 1024 * 1024;

type NumberOf = (stated: string) => unknown;

/** Our documents are seven levels deep; a list of one may stand around every value. */
const MAX_DEPTH = 64;

/** No document holds more: a note of 10,000 lines with everything that may stand in it has 1.9 million values. */
const MAX_VALUES = 2_000_000;

/** The longest lists of our documents have 10,000 entries. */
const MAX_LIST = 100_000;

/**
 * Our documents use 300 names, however long they are. Names are told apart only in what has more keys than most documents:
 * keys that are all different cost the most of what a body can hold.
 */
const MAX_NAMES = 2_000;
const KEYS_UNTOLD = 20_000;

/**
 * Parses a document in JSON, strictly and without loss: **a number comes back as its text** (`1180.00` stays `1180.00`,
 * and twenty digits stay twenty digits). The key `__proto__` is refused; so is a key that stands twice in one object,
 * since the meaning of the document would hang on which one counts. What holds more values or names than any document of
 * ours is refused before it costs more than they do.
 *
 * @param text a string, or UTF-8 bytes with or without byte order mark
 * @param numberOf what stands for a number, where it must be told from a string of the same text
 * @throws JsonRefused with the position where the text has one
 */
export function parseJson(text: string | Uint8Array, numberOf: NumberOf = (stated) => stated): unknown {
  if (text.length > MAX_JSON_BYTES) {
    throw new JsonRefused('too_large', `The document is longer than ${MAX_JSON_BYTES} bytes; split it.`);
  }
  if (typeof text === 'string') return new JsonParser(text, numberOf).document();
  const decoded = decodeUtf8(text);
  if ('text' in decoded) return new JsonParser(decoded.text, numberOf).document();
  const before = Buffer.from(text.buffer, text.byteOffset, decoded.badOffset).toString('utf8');
  const { line, column } = positionOf(before, before.length);
  throw new JsonRefused(
    'not_utf8',
    `The bytes are not valid UTF-8 at line ${line}, column ${column}; send the document as UTF-8.`,
    line,
    column,
  );
}

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

class JsonParser {
  private at = 0;
  private depth = 0;
  private values = 0;
  private keys = 0;
  private readonly names = new Set<string>();

  constructor(
    private readonly text: string,
    private readonly numberOf: NumberOf,
  ) {
    if (text.charCodeAt(0) === 0xfeff) this.at = 1;
  }

  document(): unknown {
    const value = this.value();
    this.blanks();
    if (this.at < this.text.length) throw this.unexpected('the end of the document');
    return value;
  }

  private value(): unknown {
    this.blanks();
    if (++this.values > MAX_VALUES) {
      throw this.refuse('too_many_values', `The document has more than ${MAX_VALUES} values`, this.at);
    }
    const code = this.text.charCodeAt(this.at);
    if (code === 0x22 /* " */) return this.string();
    if (code === 0x7b /* { */) return this.object();
    if (code === 0x5b /* [ */) return this.array();
    if (code === 0x2d /* - */ || (code >= 0x30 && code <= 0x39)) return this.numberOf(this.number());
    if (this.literal('true')) return true;
    if (this.literal('false')) return false;
    if (this.literal('null')) return null;
    throw this.unexpected('a value');
  }

  private object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    const start = this.at;
    let keys = 0;
    this.enter();
    if (this.take(0x7d)) return this.leave(object);
    do {
      const key = this.key();
      object[key] = this.value();
      keys++;
    } while (this.take(0x2c));
    if (!this.take(0x7d)) throw this.unexpected('a comma or }');
    if (Object.keys(object).length < keys) {
      throw this.refuse('duplicate_key', 'A key stands twice in the object that begins here', start);
    }
    return this.leave(object);
  }

  private key(): string {
    this.blanks();
    const at = this.at;
    if (this.text.charCodeAt(at) !== 0x22) throw this.unexpected('a key in double quotes');
    const key = this.string();
    if (++this.keys > KEYS_UNTOLD && this.names.add(key).size > MAX_NAMES) {
      throw this.refuse('too_many_keys', `The document has more than ${MAX_NAMES} different keys`, at);
    }
    if (!this.take(0x3a)) throw this.unexpected('a colon');
    if (key === '__proto__') throw this.refuse('forbidden_key', 'The key "__proto__" is not allowed', at);
    return key;
  }

  private array(): unknown[] {
    const array: unknown[] = [];
    this.enter();
    if (this.take(0x5d)) return this.leave(array);
    do {
      if (array.push(this.value()) > MAX_LIST) {
        throw this.refuse('too_many_values', `A list has more than ${MAX_LIST} entries`, this.at);
      }
    } while (this.take(0x2c));
    if (!this.take(0x5d)) throw this.unexpected('a comma or ]');
    return this.leave(array);
  }

  private string(): string {
    const { text } = this;
    const from = this.at + 1;
    let to = from;
    let code = text.charCodeAt(to);
    while (code !== 0x22 && code !== 0x5c && code >= 0x20) code = text.charCodeAt(++to);
    this.at = to;
    if (code !== 0x22) return text.slice(from, to) + this.restOfString();
    this.at = to + 1;
    return text.slice(from, to);
  }

  /** From the first escape on. */
  private restOfString(): string {
    const { text } = this;
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

  /** Passes over blanks and, if it stands there, over the mark. */
  private take(mark: number): boolean {
    this.blanks();
    if (this.text.charCodeAt(this.at) !== mark) return false;
    this.at++;
    return true;
  }

  private blanks(): void {
    let code = this.text.charCodeAt(this.at);
    while (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) code = this.text.charCodeAt(++this.at);
  }

  private enter(): void {
    if (++this.depth > MAX_DEPTH) {
      throw this.refuse('too_deep', `Objects and lists are nested more than ${MAX_DEPTH} deep`, this.at);
    }
    this.at++;
  }

  private leave<T>(value: T): T {
    this.depth--;
    return value;
  }

  private unexpected(wanted: string): JsonRefused {
    const found =
      this.at < this.text.length ? JSON.stringify(String.fromCodePoint(this.text.codePointAt(this.at)!)) : 'the end';
    return this.refuse('invalid_json', `The JSON is not valid: ${wanted} must stand where ${found} stands`, this.at);
  }

  private refuse(code: JsonRefusedCode, message: string, at: number): JsonRefused {
    const { line, column } = positionOf(this.text, at);
    return new JsonRefused(code, `${message} (line ${line}, column ${column}).`, line, column);
  }
}
