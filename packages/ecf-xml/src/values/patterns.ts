import { BLANK, type CharacterRange, DIGIT, WORD } from './character-classes.js';

/**
 * Turns an XML Schema pattern into a regular expression of the engine that accepts exactly the same values.
 *
 * XML Schema patterns always match the whole value. They have no anchors (`^` and `$` are ordinary characters) and no lazy
 * constructs, and their `\w`, `\d`, `\s` and `.` differ from JavaScript's. Only constructs that the catalogue uses are
 * supported; any other is refused, so that a new pattern cannot be misread.
 */
export function compilePattern(pattern: string): RegExp {
  // linear: in the catalogue only parts of a fixed length, or with a mark between them, repeat
  return new RegExp(`^(?:${translate(pattern)})$`, 'u');
}

const CLASSES: Readonly<Record<string, readonly CharacterRange[]>> = { w: WORD, d: DIGIT, s: BLANK };

function translate(pattern: string): string {
  let out = '';
  let inClass = false;
  for (let i = 0; i < pattern.length; i++) {
    const c = pattern[i]!;
    if (c === '\\') {
      out += translateEscape(pattern[++i] ?? '', inClass);
    } else if (inClass) {
      if (c === ']') inClass = false;
      out += c;
    } else if (c === '[') {
      inClass = true;
      out += c;
    } else if (c === '.') {
      out += '[^\\n\\r]';
    } else if (c === '^' || c === '$') {
      out += `\\${c}`;
    } else if (c === '(' && pattern[i + 1] === '?') {
      throw new Error(`XML Schema patterns have no (? groups: ${pattern}`);
    } else {
      out += c;
    }
  }
  return out;
}

function translateEscape(letter: string, inClass: boolean): string {
  if (letter === 'D' && !inClass) return `[^${classText(DIGIT)}]`;
  const ranges = CLASSES[letter];
  if (ranges) return inClass ? classText(ranges) : `[${classText(ranges)}]`;
  if (letter === '-') return inClass ? '\\-' : '-';
  if (/^[.\\?*+(){}[\]|^]$/.test(letter)) return `\\${letter}`;
  throw new Error(`Unknown escape \\${letter} in an XML Schema pattern`);
}

function classText(ranges: readonly CharacterRange[]): string {
  const hex = (codePoint: number): string => `\\u{${codePoint.toString(16)}}`;
  return ranges.map(([from, to]) => (from === to ? hex(from) : `${hex(from)}-${hex(to)}`)).join('');
}

/** Parts of a pattern that other languages read otherwise. The unescaped dot of amounts is a dot or a digit. */
const PORTABLE: Readonly<Record<string, string>> = {
  '.': '[0-9.]',
  '\\-': '-',
  '\\d': '[0-9]',
  '\\D': '[^0-9]',
};

/**
 * A pattern of the catalogue for a JSON Schema, in constructs that regular expressions of every language read alike. Digits are 0 to 9.
 * A pattern with `\w` cannot be written so.
 */
export function portablePattern(pattern: string): string {
  if (pattern.includes(String.raw`\w`)) throw new Error(`The pattern ${pattern} needs a portable form`);
  return `^(?:${pattern.replaceAll(/\\.|\[[^[\]]*\]|\./g, (part) => PORTABLE[part] ?? part)})$`;
}
