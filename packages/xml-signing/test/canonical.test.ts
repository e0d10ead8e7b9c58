import { describe, expect, it } from '@jest/globals';
import { XmlC14NMode, XmlDocument } from 'libxml2-wasm';
import { withoutBlankText } from '../src/canonical/blank-text.js';
import { readElement } from '../src/canonical/elements.js';
import { exclusiveCanonical } from '../src/canonical/exclusive.js';
import { declarationsInForce, declare, type Scope, scopeInside } from '../src/canonical/namespaces.js';
import { attributesOf, isEndTag, startTag } from '../src/canonical/tags.js';

const SEED = 7;

/** Documents with prefixes declared, redeclared, undeclared and used in elements and attributes. */
function* documents(count: number): Generator<string> {
  let state = SEED;
  const random = (below: number): number => {
    state = (Math.imul(state, 1103515245) + 12345) >>> 0;
    return (state >>> 8) % below;
  };
  const element = (depth: number, known: string[]): string => {
    const scope = [...known];
    let head = '';
    for (const prefix of ['a', 'b', 'zz']) {
      if (random(4) > 0) continue;
      head += ` xmlns:${prefix}="urn:${random(3)}"`;
      if (!scope.includes(prefix)) scope.push(prefix);
    }
    if (random(5) === 0) head += ` xmlns="${['', 'urn:d', 'urn:e'][random(3)]}"`;
    const name = (): string => (scope.length > 0 && random(3) === 0 ? `${scope[random(scope.length)]}:` : '');
    const tag = `${name()}e${random(3)}`;
    if (random(3) === 0) head += ` ${name()}x="v>&lt;&quot;"`;
    if (random(6) === 0) head += ` xml:lang="es"`;
    const children = Array.from({ length: depth > 3 ? 0 : random(4) }, () => element(depth + 1, scope));
    return `<${tag}${head}>${random(3) === 0 ? 't &gt; "\' ñ' : ''}${children.join('\n ')}</${tag}>`;
  };
  for (let i = 0; i < count; i++) yield element(0, []);
}

const EXCLUSIVE = { mode: XmlC14NMode.XML_C14N_EXCLUSIVE_1_0 };

/** Each element of canonical text in document order: its start, and the declarations around it. */
function elements(text: string): { start: number; outside: Scope | null }[] {
  const found: { start: number; outside: Scope | null }[] = [];
  const scopes: (Scope | null)[] = [null];
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    if (isEndTag(text, at)) {
      scopes.pop();
      continue;
    }
    const outside = scopes.at(-1) ?? null;
    found.push({ start: at, outside });
    scopes.push(scopeInside(outside, attributesOf(text, startTag(text, at))));
  }
  return found;
}

describe('exclusive canonicalisation', () => {
  it(`equals libxml2's, seed ${SEED}`, () => {
    let different = 0;
    for (const xml of documents(1500)) {
      const document = XmlDocument.fromString(xml);
      const inclusive = document.canonicalizeToString();
      const expected = document.canonicalizeToString(EXCLUSIVE);
      document.dispose();
      expect(exclusiveCanonical(inclusive, 0, inclusive.length, null)).toBe(expected);
      if (expected !== inclusive) different++;
    }
    expect(different).toBeGreaterThan(500);
  });

  it('declares listed prefixes like inclusive canonicalisation', () => {
    const inclusiveNamespacePrefixes = ['zz', 'b'];
    for (const xml of documents(1500)) {
      const document = XmlDocument.fromString(xml);
      const inclusive = document.canonicalizeToString();
      const expected = document.canonicalizeToString({ ...EXCLUSIVE, inclusiveNamespacePrefixes });
      document.dispose();
      expect(exclusiveCanonical(inclusive, 0, inclusive.length, null, inclusiveNamespacePrefixes)).toBe(expected);
    }
  });

  it('includes the declarations around an inner element', () => {
    for (const xml of documents(200)) {
      const document = XmlDocument.fromString(xml);
      const text = document.canonicalizeToString();
      for (const [index, { start, outside }] of elements(text).entries()) {
        const expected = document.get(`(//*)[${index + 1}]`)!.canonicalizeToString(EXCLUSIVE);
        expect(exclusiveCanonical(text, start, readElement(text, start, outside).end, outside)).toBe(expected);
      }
      document.dispose();
    }
  });
});

describe('canonical text', () => {
  it('is read tag by tag, with > inside values', () => {
    const text = '<a:b xmlns:a="urn:>" c=">"></a:b>';
    const tag = startTag(text, 0);
    expect(tag).toEqual({ start: 0, end: text.indexOf('></a') + 1, name: 'a:b', nameEnd: 4 });
    expect(attributesOf(text, tag)).toEqual([
      { name: 'xmlns:a', raw: 'urn:>' },
      { name: 'c', raw: '>' },
    ]);
  });

  it('loses blank text nodes only', () => {
    expect(withoutBlankText('<a>\n <b> x </b>\t<c a="> "> </c></a>')).toBe('<a><b> x </b><c a="> "></c></a>');
    expect(withoutBlankText('<a>&#xD;\n<b></b></a>')).toBe('<a>&#xD;\n<b></b></a>');
  });

  it('lists declarations in force, innermost value, default first, by code point', () => {
    let scope = declare(null, 'b', '1');
    scope = declare(scope, '', '2');
    scope = declare(scope, 'b', '3');
    scope = declare(scope, 'a', '4');
    expect(declarationsInForce(scope)).toEqual([
      { prefix: '', uri: '2' },
      { prefix: 'a', uri: '4' },
      { prefix: 'b', uri: '3' },
    ]);
    expect(declarationsInForce(declare(scope, '', ''))).toHaveLength(2);
  });
});
