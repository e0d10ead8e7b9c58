import { describe, expect, it } from '@jest/globals';
import { schemaOf } from '../src/catalogue/element-rules.js';
import { checkJson, checkXml, examineJson, parseXml, type SchemaId } from '../src/index.js';
import { asJson } from './mutations/json-mutations.js';
import { libxml2Accepts } from './mutations/oracle.js';
import { Random } from './mutations/random.js';
import { SCHEMA_IDS, validDocument } from './mutations/sample-documents.js';
import { elementsOf, serialise, type XmlElement } from './mutations/xml-tree.js';

/** Each line of docs/authority-divergences.md about verdicts. */
describe('divergences', () => {
  it.each(['ecf-33', 'ecf-34'] as const)('1. ^ and $ of ResponsablePago in %s are anchors', (id) => {
    expect(rulesWith(id, 'ResponsablePago', 'Juan Pérez')).toEqual([]);
    expect(rulesWith(id, 'ResponsablePago', '^Juan$')).toEqual(['schema.pattern']);
  });

  it('2. a text is too long when its code points or its UTF-16 units are', () => {
    const emoji = (count: number): string => '😀'.repeat(count);
    expect(rulesWith('ecf-31', 'NombreItem', emoji(40))).toEqual([]);
    expect(rulesWith('ecf-31', 'NombreItem', emoji(41))).toEqual(['schema.length']);
    expect(libxml2Accepts('ecf-31', serialise(withValue('ecf-31', 'NombreItem', emoji(41))))).toBe(true);
    expect(rulesWith('ecf-31', 'NombreItem', emoji(81))).toEqual(['schema.length']);
    // The minimal length counts code points.
    expect(rulesWith('ecf-31', 'NCFModificado', emoji(6))).toEqual(['schema.length']);
  });

  it.each(['a\u0000', '\u0008', '\u001f', '\ud800', '\udfff', '\ufffe', '\uffff', '&#0;', '&#xD800;', '&#x110000;'])(
    '3. %j cannot be carried by XML',
    (value) => {
      const document = asJson(withValue('ecf-31', 'NombreItem', value));
      expect(checkJson(document).faults).toMatchObject([
        { rule: 'schema.type', message: expect.stringContaining('XML') },
      ]);
    },
  );

  it('4. the schema is the one TipoeCF names', () => {
    const of = (value: string): unknown =>
      checkXml(parseXml(Buffer.from(serialise(withValue('ecf-43', 'TipoeCF', value)))));
    expect(of(' +43\n')).toMatchObject({ schema: 'ecf-43', type: '43', faults: [] });
    for (const value of ['043', '42', '', 'x', '43.0', '-43']) {
      expect(of(value)).toMatchObject({ schema: null, type: null, faults: [{ rule: 'schema.enumeration' }] });
    }
    // The published schema of 43 accepts a 47; we check it by the schema of 47.
    expect(libxml2Accepts('ecf-43', serialise(withValue('ecf-43', 'TipoeCF', '47')))).toBe(true);
    expect(of('47')).toMatchObject({ schema: 'ecf-47', type: '47' });
  });

  it.each(['ecf-31', 'rfce-32', 'acecf', 'anecf', 'arecf'] as const)(
    'an RNC of 19 digits in %s passes as in libxml2, and goes nowhere',
    (id) => {
      const name = id === 'anecf' ? 'RncEmisor' : 'RNCEmisor';
      const document = withValue(id, name, '1334706160011234567');
      expect(libxml2Accepts(id, serialise(document))).toBe(true);
      expect(checkXml(parseXml(Buffer.from(serialise(document)))).faults).toEqual([]);
      const examined = examineJson(asJson(document), { now: new Date() });
      expect(examined.faults.map(({ rule }) => rule)).toContain('schema.pattern');
      expect(examineJson(asJson(document), { now: new Date(), schemaOnly: true }).valid).toBe(true);
    },
  );

  it('exactly one element of any name may replace the signature', () => {
    for (const id of SCHEMA_IDS) {
      const document = validDocument(schemaOf(id), new Random(3), 0);
      const signed = serialise(document);
      const other = signed.replace(/<Signature.*<\/Signature>/, '<FechaHoraFirma a="x">y<z/></FechaHoraFirma>');
      const twice = signed.replace(/(<Signature.*<\/Signature>)/, '$1<Signature/>');
      expect(libxml2Accepts(id, other)).toBe(true);
      expect(checkXml(parseXml(Buffer.from(other))).faults).toEqual([]);
      expect(libxml2Accepts(id, twice)).toBe(false);
      expect(checkXml(parseXml(Buffer.from(twice))).faults).toHaveLength(1);
    }
  });

  it('a namespace that is not an absolute URI passes the structural check', () => {
    const source = serialise(validDocument(schemaOf('arecf'), new Random(3), 0)).replace(
      '<ARECF',
      '<ARECF xmlns:x="foo"',
    );
    const xml = parseXml(Buffer.from(source));
    expect(libxml2Accepts('arecf', source)).toBe(true);
    expect(checkXml(xml).faults).toEqual([]);
    expect(xml.hasCanonicalForm).toBe(false);
    expect(xml.text.startsWith('<ARECF xmlns:x="foo">')).toBe(true);
  });
});

function rulesWith(id: SchemaId, name: string, value: string): string[] {
  const document = withValue(id, name, value);
  const xml = checkXml(parseXml(Buffer.from(serialise(document)))).faults.map(({ rule }) => rule);
  const json = checkJson(asJson(document)).faults.map(({ rule }) => rule);
  expect(json).toEqual(xml);
  return xml;
}

/** A complete document of the schema with one changed value. */
function withValue(id: SchemaId, name: string, value: string): XmlElement {
  const document = validDocument(schemaOf(id), new Random(5), 1);
  const { node } = elementsOf(document).find((each) => each.node.name === name)!;
  node.children = value === '' ? [] : [value];
  return document;
}
