import type { DocumentNode } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import { schemaOf } from '../src/catalogue/element-rules.js';
import { checkJson, checkXml, examineXml, inputDocument, parseXml, readXml, writeXml } from '../src/index.js';
import { asJson } from './mutations/json-mutations.js';
import { Random } from './mutations/random.js';
import { SCHEMA_IDS, validDocument } from './mutations/sample-documents.js';
import { certificationDocuments, hasSharedMaterial } from './mutations/shared-material.js';

const ROOT =
  '<ARECF xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">';
const SIGNATURE =
  '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignatureValue>x</SignatureValue></Signature>';

const receipt = {
  ARECF: {
    DetalleAcusedeRecibo: {
      Version: '1.0',
      RNCEmisor: '133470616',
      RNCComprador: '131880681',
      eNCF: 'E310000000001',
      Estado: '0',
      FechaHoraAcuseRecibo: '01-02-2026 10:11:12',
    },
  },
};

describe('writeXml', () => {
  it('writes one compact canonical line with the namespaces of the authority', () => {
    const { canonical, output } = writeXml(receipt);
    expect(
      output.startsWith(`${ROOT}<DetalleAcusedeRecibo><Version>1.0</Version><RNCEmisor>133470616</RNCEmisor>`),
    ).toBe(true);
    expect(output).not.toMatch(/\s</);
    expect(canonical).toBe(output);
    expect(parseXml(Buffer.from(output)).text).toBe(canonical);
  });

  it('orders by the catalogue for any order of the tree', () => {
    const group = receipt.ARECF.DetalleAcusedeRecibo;
    const reversed = Object.fromEntries(Object.entries(group).reverse());
    expect(writeXml({ ARECF: { DetalleAcusedeRecibo: reversed } })).toEqual(writeXml(receipt));
  });

  it('writes quotes as entities in the output and as they are in the canonical form', () => {
    const tree = { ACECF: { DetalleAprobacionComercial: { DetalleMotivoRechazo: `"a" 'b' <c> & d\r\né` } } };
    const { canonical, output } = writeXml(tree);
    expect(canonical).toContain(`<DetalleMotivoRechazo>"a" 'b' &lt;c&gt; &amp; d&#xD;\né</DetalleMotivoRechazo>`);
    expect(output).toContain(
      '<DetalleMotivoRechazo>&quot;a&quot; &apos;b&apos; &lt;c&gt; &amp; d&#xD;\né</DetalleMotivoRechazo>',
    );
    expect(parseXml(Buffer.from(output)).text).toBe(canonical);
    expect(readXml(parseXml(Buffer.from(output)))).toEqual(tree);
  });

  it('never writes an empty tag', () => {
    const tree: DocumentNode = {
      ECF: {
        Encabezado: {
          IdDoc: { TipoeCF: '32', eNCF: '', TablaFormasPago: { FormaDePago: [{ FormaPago: '' }, {}] } },
          Comprador: {},
        },
        DetallesItems: { Item: [] },
        Paginacion: '',
      },
    };
    expect(writeXml(tree).output.replace(/^<ECF[^>]*>/, '')).toBe(
      '<Encabezado><IdDoc><TipoeCF>32</TipoeCF></IdDoc></Encabezado></ECF>',
    );
  });

  it('refuses unknown documents and unknown elements', () => {
    expect(() => writeXml({ X: {} })).toThrow('one of our documents');
    expect(() => writeXml({ ARECF: {}, ACECF: {} })).toThrow('one of our documents');
    expect(() => writeXml({ ECF: { Encabezado: { IdDoc: { TipoeCF: '99' } } } })).toThrow('TipoeCF');
    expect(() => writeXml({ ARECF: { Foo: 'x' } })).toThrow('Foo is not an element of ARECF');
    expect(() => writeXml({ ARECF: { DetalleAcusedeRecibo: 'x' } })).toThrow('group');
    expect(() => writeXml({ ARECF: { DetalleAcusedeRecibo: { Estado: { a: '1' } } } })).toThrow('text');
    expect(() => writeXml({ ARECF: { DetalleAcusedeRecibo: { Estado: '\u0001' } } })).toThrow(RangeError);
    expect(() => writeXml({ ARECF: { DetalleAcusedeRecibo: { Estado: '\ud800' } } })).toThrow(RangeError);
  });
});

describe('readXml', () => {
  it.each(SCHEMA_IDS)('gives the tree of %s back, and writing it the same bytes', (id) => {
    const random = new Random(11);
    for (const fullness of [0, 0.3, 1]) {
      const json = asJson(validDocument(schemaOf(id), random, fullness));
      const { tree, faults } = checkJson(json);
      expect(faults).toEqual([]);
      const written = writeXml(tree!);
      const root = Object.keys(json)[0]!;
      const signed = `<?xml version="1.0" encoding="utf-8"?>${written.output.replace(`</${root}>`, `${SIGNATURE}</${root}>`)}`;
      const read = readXml(parseXml(Buffer.from(signed)));
      expect(read).toEqual(tree);
      expect(writeXml(read)).toEqual(written);
      expect(inputDocument(parseXml(Buffer.from(signed)))).toEqual(read);
    }
  });

  it('gives text that looks escaped so that it is the same when it is submitted again', () => {
    const submitted = asJson(validDocument(schemaOf('ecf-31'), new Random(3), 1));
    const group = (value: unknown, ...names: string[]) =>
      names.reduce((at, name) => (at as Record<string, unknown>)[name], value) as Record<string, unknown>;
    group(submitted, 'ECF', 'Encabezado', 'Emisor').RazonSocialEmisor = 'Ron &amp;amp; Cía & &amp;lt;b> &#38;#65;';
    const { tree } = checkJson(submitted);
    const { RazonSocialEmisor } = group(tree, 'ECF', 'Encabezado', 'Emisor');
    expect(RazonSocialEmisor).toBe('Ron &amp; Cía & &lt;b> &#65;');
    const document = inputDocument(parseXml(Buffer.from(writeXml(tree as DocumentNode).output)));
    const again = checkJson(document).tree;
    expect(group(again, 'ECF', 'Encabezado', 'Emisor').RazonSocialEmisor).toBe(RazonSocialEmisor);
  });

  it('makes lists only of repeatable elements', () => {
    const xml = parseXml(
      Buffer.from('<ANECF><DetalleAnulacion><Anulacion><NoLinea>1</NoLinea></Anulacion></DetalleAnulacion></ANECF>'),
    );
    expect(readXml(xml)).toEqual({ ANECF: { DetalleAnulacion: { Anulacion: [{ NoLinea: ['1'] }] } } });
  });

  it('leaves the signature out, and nothing that merely has its name', () => {
    const of = (signature: string): unknown =>
      readXml(parseXml(Buffer.from(writeXml(receipt).output.replace('</ARECF>', `${signature}</ARECF>`))));
    expect(of(SIGNATURE)).toEqual(receipt);
    expect(of('<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#"/>')).toEqual(receipt);
    expect(of('<Signature><a>1</a><a>2</a></Signature>')).toEqual({
      ARECF: { ...receipt.ARECF, Signature: { a: ['1', '2'] } },
    });
    expect(of('<Signature xmlns="urn:x">y</Signature>')).toEqual({ ARECF: { ...receipt.ARECF, Signature: 'y' } });
    expect(of('<__proto__><a>1</a></__proto__>')).toEqual(receipt);
  });

  it('reads a foreign document without a schema', () => {
    const xml = parseXml(Buffer.from('<a><b>1</b><b/><c x="1">2<!-- --> 3</c><__proto__>4</__proto__></a>'));
    const read = readXml(xml) as { a: Record<string, unknown> };
    expect(read.a.b).toEqual(['1', '']);
    expect(read.a.c).toBe('2 3');
    expect(Object.keys(read.a)).toContain('__proto__');
  });

  it('drops empty groups and elements', () => {
    const source = '<RFCE><Encabezado><Comprador/><Totales><MontoTotal></MontoTotal></Totales></Encabezado></RFCE>';
    expect(readXml(parseXml(Buffer.from(source)))).toEqual({ RFCE: {} });
  });
});

(hasSharedMaterial ? describe : describe.skip)('the certification set', () => {
  const documents = certificationDocuments();

  it('is complete', () => {
    expect(documents).toHaveLength(40);
  });

  it.each(documents.map(({ name, value }) => [name, value] as const))('%s passes unaltered', (_, value) => {
    const { faults, tree } = checkJson(value);
    expect(faults).toEqual([]);
    expect(tree).toEqual(value);
    const [root] = Object.keys(value) as [string];
    const stamp = root === 'ECF' ? '<FechaHoraFirma>01-02-2026 10:11:12</FechaHoraFirma>' : '';
    const unsigned = writeXml(tree!).output.replace(/<FechaHoraFirma>[^<]*<\/FechaHoraFirma>/, '');
    const xml = parseXml(Buffer.from(unsigned.replace(`</${root}>`, `${stamp}${SIGNATURE}</${root}>`)));
    expect(checkXml(xml).faults).toEqual([]);
    expect(examineXml(xml, { now: new Date('2026-08-01T12:00:00Z') }).faults).toEqual([]);
  });
});
