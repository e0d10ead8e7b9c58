import { describe, expect, it } from '@jest/globals';
import { BLANK, type CharacterRange, DIGIT, WORD } from '../src/values/character-classes.js';
import { compile, isValid, withParsed } from './mutations/oracle.js';

/** Every code point that XML can contain. */
const CARRIABLE: readonly CharacterRange[] = [
  [0x9, 0xa],
  [0xd, 0xd],
  [0x20, 0xd7ff],
  [0xe000, 0xfffd],
  [0x10000, 0x10ffff],
];

describe('the characters of \\w, \\d and \\s', () => {
  it.each<[string, string, readonly CharacterRange[]]>([
    ['\\w', '\\W', WORD],
    ['\\d', '\\D', DIGIT],
    ['\\s', '\\S', BLANK],
  ])('are those of libxml2 for %s, code point by code point', (inside, outside, ranges) => {
    const member = new Uint8Array(0x110000);
    for (const [from, to] of ranges) member.fill(1, from, to + 1);
    const texts = [references(member, 0), references(member, 1)];
    expect(matches(`(${outside})*`, texts[0]!)).toBe(true);
    expect(matches(`(${inside})*`, texts[1]!)).toBe(true);
  });

  it('would be noticed if one were wrong', () => {
    expect(matches('(\\w)*', '&#97;&#45;&#98;')).toBe(false);
    expect(matches('(\\W)*', '&#45;&#98;')).toBe(false);
  });
});

/** The characters themselves, or references if XML would read them differently. */
function references(member: Uint8Array, wanted: number): string {
  // Global functions are slow under the test runner, and there are a million characters.
  const { fromCodePoint } = String;
  let found = '';
  for (const [from, to] of CARRIABLE) {
    for (let code = from; code <= to; code++) {
      if (member[code] === wanted) found += code < 0x40 ? `&#${code};` : fromCodePoint(code);
    }
  }
  return found;
}

function matches(pattern: string, content: string): boolean {
  const validator = compile(`<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:element name="v"><xs:simpleType>
    <xs:restriction base="xs:string"><xs:pattern value="${pattern}"/></xs:restriction></xs:simpleType></xs:element></xs:schema>`);
  try {
    return withParsed(`<v>${content}</v>`, (document) => isValid(validator, document));
  } finally {
    validator.dispose();
  }
}
