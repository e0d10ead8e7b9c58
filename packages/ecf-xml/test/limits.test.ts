import { describe, expect, it } from '@jest/globals';
import { schemaOf } from '../src/catalogue/element-rules.js';
import { checkJson, checkXml, parseXml, writeXml } from '../src/index.js';
import { expectedOfXml } from './mutations/expected-xml.js';
import { asJson } from './mutations/json-mutations.js';
import { Random } from './mutations/random.js';
import { validDocument } from './mutations/sample-documents.js';
import { copy, elementsOf, isElement, serialise, type XmlElement } from './mutations/xml-tree.js';

describe('repetition', () => {
  it.each([
    ['ecf-31', 'Item', 1000],
    ['ecf-32', 'Item', 1000],
    ['ecf-33', 'Item', 10_000],
    ['ecf-47', 'Item', 1000],
    ['ecf-31', 'Pagina', 1000],
    ['ecf-31', 'TelefonoEmisor', 3],
    ['rfce-32', 'FormaDePago', 7],
    ['anecf', 'Secuencias', 10_000],
    ['anecf', 'NoLinea', 10],
    ['anecf', 'Anulacion', 10],
  ] as const)('of %s %s ends at %i', (id, name, limit) => {
    const small = validDocument(schemaOf(id), new Random(7), 0);
    const base = has(small, name) ? small : validDocument(schemaOf(id), new Random(7), 1);
    for (const count of [limit, limit + 1]) {
      const document = repeated(base, name, count);
      const source = serialise(document);
      const allowed = count === limit;
      expect(expectedOfXml(source)).toBe(allowed);
      const faults = checkXml(parseXml(Buffer.from(source))).faults;
      expect(faults.map(({ rule }) => rule)).toEqual(allowed ? [] : ['schema.repeat']);
      const json = checkJson(asJson(document));
      expect(json.faults.map(({ rule }) => rule)).toEqual(allowed ? [] : ['schema.repeat']);
      expect(writeXml(json.tree!).output.match(new RegExp(`<${name}>`, 'g'))).toHaveLength(count);
    }
  });
});

function has(document: XmlElement, name: string): boolean {
  return elementsOf(document).some(({ node }) => node.name === name);
}

/** The document with the first such element repeated `count` times, and the others of its kind removed. */
function repeated(base: XmlElement, name: string, count: number): XmlElement {
  const document = copy(base);
  const { node, parent } = elementsOf(document).find((each) => each.node.name === name)!;
  const others = parent!.children.filter((child) => !isElement(child) || child.name !== name);
  const at = parent!.children.indexOf(node);
  others.splice(at, 0, ...Array.from({ length: count }, () => node));
  parent!.children = others;
  return document;
}
