import { type Fault, groupOf } from '@ecf/domain';
import { describe, expect, it } from '@jest/globals';
import { DOCUMENTS } from '../src/catalogue/documents.js';
import { type ElementRule, schemaOf } from '../src/catalogue/element-rules.js';
import { FaultList } from '../src/fault-list.js';
import { checkJson, checkXml, examineJson, examineXml, parseDocument, parseXml } from '../src/index.js';

const now = new Date('2026-08-01T12:00:00Z');

/** A small valid e-CF of type 43 (minor expenses), with the given changes. */
function expense(change: (ecf: Parts) => void = () => {}): { ECF: unknown } {
  const parts: Parts = {
    idDoc: { TipoeCF: '43', eNCF: 'E430000000001', FechaVencimientoSecuencia: '31-12-2028' },
    issuer: {
      RNCEmisor: '133470616',
      RazonSocialEmisor: 'Demo',
      DireccionEmisor: 'Calle 1',
      FechaEmision: '01-02-2026',
    },
    totals: { MontoExento: '10.00', MontoTotal: '10.00' },
    item: {
      NumeroLinea: '1',
      IndicadorFacturacion: '4',
      NombreItem: 'Taxi',
      IndicadorBienoServicio: '2',
      CantidadItem: '1',
      PrecioUnitarioItem: '10.00',
      MontoItem: '10.00',
    },
    ecf: {},
    header: {},
  };
  change(parts);
  const { idDoc, issuer, totals, item, ecf, header } = parts;
  const head = { Version: '1.0', IdDoc: idDoc, Emisor: issuer, Totales: totals, ...header };
  return { ECF: { Encabezado: head, DetallesItems: { Item: [item] }, ...ecf } };
}

interface Parts {
  idDoc: Record<string, unknown>;
  issuer: Record<string, unknown>;
  totals: Record<string, unknown>;
  item: Record<string, unknown>;
  ecf: Record<string, unknown>;
  header: Record<string, unknown>;
}

function namesOf(faults: readonly Fault[]): string[] {
  return faults.map(({ path, rule }) => `${rule} ${path}`);
}

describe('faults of JSON', () => {
  it('are none in a good document', () => {
    const checked = checkJson(expense());
    expect(checked).toMatchObject({ document: 'ECF', type: '43', schema: 'ecf-43', encf: 'E430000000001', faults: [] });
    expect(examineJson(expense(), { now })).toMatchObject({ valid: true, faults: [] });
  });

  it.each<[string, (parts: Parts) => void]>([
    ['schema.required ECF.Encabezado.Totales.MontoTotal', ({ totals }) => delete totals.MontoTotal],
    ['schema.required ECF.Encabezado.Totales.MontoTotal', ({ totals }) => (totals.MontoTotal = '')],
    ['schema.unknown ECF.Encabezado.Emisor.rncemisor', ({ issuer }) => (issuer.rncemisor = '1')],
    ['schema.unknown ECF.Encabezado.Comprador', ({ header }) => (header.Comprador = { RNCComprador: '133470616' })],
    ['schema.type ECF.DetallesItems.Item[1].MontoItem', ({ item }) => (item.MontoItem = '10,00')],
    ['schema.type ECF.DetallesItems.Item[1].MontoItem', ({ item }) => (item.MontoItem = true)],
    ['schema.type ECF.DetallesItems.Item[1].MontoItem', ({ item }) => (item.MontoItem = { a: '1' })],
    ['schema.pattern ECF.DetallesItems.Item[1].MontoItem', ({ item }) => (item.MontoItem = '10.005')],
    ['schema.length ECF.DetallesItems.Item[1].NombreItem', ({ item }) => (item.NombreItem = 'x'.repeat(81))],
    [
      'schema.enumeration ECF.DetallesItems.Item[1].IndicadorFacturacion',
      ({ item }) => (item.IndicadorFacturacion = '5'),
    ],
    ['schema.repeat ECF.DetallesItems.Item[1].NombreItem', ({ item }) => (item.NombreItem = ['a', 'b'])],
    ['schema.type ECF.Encabezado.Totales', ({ header }) => (header.Totales = 'x')],
    ['schema.enumeration ECF.Encabezado.IdDoc.TipoeCF', ({ idDoc }) => (idDoc.TipoeCF = '99')],
    ['schema.enumeration ECF.Encabezado.IdDoc.TipoeCF', ({ idDoc }) => (idDoc.TipoeCF = '043')],
    ['schema.required ECF.Encabezado.IdDoc.TipoeCF', ({ idDoc }) => delete idDoc.TipoeCF],
  ])('%s', (fault, change) => {
    expect(namesOf(checkJson(expense(change)).faults)).toEqual([fault]);
  });

  it('name field, rule, remedy and the source of the rule', () => {
    const [fault] = checkJson(expense(({ totals }) => (totals.MontoTotal = '1.234,50'))).faults;
    expect(fault).toEqual({
      path: 'ECF.Encabezado.Totales.MontoTotal',
      rule: 'schema.type',
      code: null,
      message:
        'MontoTotal is "1.234,50"; it must be an amount of at most 16 digits, with no, one or two decimals, as 1234.50.',
      source: 'XSD e-CF 43 v.1.0, Decimal18D1or2ValidationTypeMayorIgualCero',
      severity: 'error',
    });
    const [foreign] = checkJson(expense(({ idDoc }) => (idDoc.TipoIngresos = '01'))).faults;
    expect(foreign?.message).toBe(
      'TipoIngresos is not an element of IdDoc in an e-CF of type 43 (types 31, 32, 33, 34, 44, 45, 46 have it); remove it, or move it to its group.',
    );
  });

  it('of a root that is not one of the fifteen documents', () => {
    expect(namesOf(checkJson({ ecf: expense().ECF }).faults)).toEqual(['schema.unknown ecf']);
    expect(namesOf(checkJson([]).faults)).toEqual(['schema.unknown ']);
    expect(namesOf(checkJson('x').faults)).toEqual(['schema.unknown ']);
    expect(namesOf(checkJson(null).faults)).toEqual(['schema.unknown ']);
    expect(namesOf(checkJson({ ...expense(), X: '1' }).faults)).toEqual(['schema.unknown X']);
    expect(checkJson({ ...expense(), X: '' }).faults).toEqual([]);
  });

  it('name what type 32 requires of a buyer below and from 250,000.00, as the business rules do', () => {
    const document = expense(({ idDoc }) => Object.assign(idDoc, { TipoeCF: '32', TipoIngresos: '01', TipoPago: '1' }));
    const fault = checkJson(document).faults.find(({ path }) => path.endsWith('.Comprador'));
    expect(fault).toMatchObject({
      rule: 'schema.required',
      message:
        'Comprador is missing; add it with RazonSocialComprador, from 250,000.00 also with RNCComprador or IdentificadorExtranjero.',
    });
  });

  it('end at a thousand', () => {
    const item = Array.from({ length: 3000 }, () => ({ X: '1' }));
    expect(checkJson({ ECF: { ...(expense().ECF as object), DetallesItems: { Item: item } } }).faults).toHaveLength(
      1001,
    );
  });

  it('word nothing, and look at no further entry of a list, once the list of faults is full', () => {
    let looked = 0;
    const ownKeys = () => {
      looked++;
      return ['X'];
    };
    const item = Array.from({ length: 3000 }, () => new Proxy({ X: '1' }, { ownKeys }));
    checkJson({ ECF: { ...(expense().ECF as object), DetallesItems: { Item: item } } });
    expect(looked).toBeLessThan(1000);

    const faults = new FaultList('source');
    for (let at = 0; at < 2000; at++) faults.add('path', 'type', 'message');
    const untouched = new Proxy(schemaOf('ecf-43').root, { get: () => expect('the group').toBe('left alone') });
    faults.unknown('path', 'Name', untouched, schemaOf('ecf-43'));
    faults.missing('path', untouched);
    expect(faults.faults).toHaveLength(1001);
  });

  it('never touch the prototype of anything', () => {
    const value = JSON.parse('{"ECF": {"__proto__": {"Encabezado": {}}, "constructor": "x"}}');
    expect(namesOf(checkJson(value).faults)).toContain('schema.required ECF.Encabezado.IdDoc.TipoeCF');
    expect(({} as Record<string, unknown>).Encabezado).toBeUndefined();
  });

  it('of a value that is deeper than any stack', () => {
    let deep: unknown = 'x';
    for (let i = 0; i < 200_000; i++) deep = i % 2 ? [deep] : { a: deep };
    expect(checkJson({ ECF: deep }).faults).not.toEqual([]);
    expect(checkJson(expense(({ item }) => (item.NombreItem = deep))).faults).not.toEqual([]);
  });
});

describe('faults of XML', () => {
  const of = (source: string): string[] => namesOf(checkXml(parseXml(Buffer.from(source))).faults);
  const receipt = (detail: string, behind = ''): string =>
    `<ARECF><DetalleAcusedeRecibo>${detail}</DetalleAcusedeRecibo>${behind}</ARECF>`;
  const good =
    '<Version>1.0</Version><RNCEmisor>133470616</RNCEmisor><RNCComprador>131880681</RNCComprador><eNCF>E310000000001</eNCF>' +
    '<Estado>0</Estado><FechaHoraAcuseRecibo>01-02-2026 10:11:12</FechaHoraAcuseRecibo>';

  it.each<[string, string[]]>([
    [receipt(good), []],
    [receipt(good.replace('<Estado>0</Estado>', '')), ['schema.required ARECF.DetalleAcusedeRecibo.Estado']],
    [receipt(good.replace('>0<', '><')), ['schema.empty ARECF.DetalleAcusedeRecibo.Estado']],
    [receipt(`${good}<Estado>0</Estado>`), ['schema.repeat ARECF.DetalleAcusedeRecibo.Estado']],
    [
      receipt(`<Estado>0</Estado>${good}`),
      ['Version', 'RNCEmisor', 'RNCComprador', 'eNCF']
        .map((name) => `schema.order ARECF.DetalleAcusedeRecibo.${name}`)
        .concat(
          'schema.repeat ARECF.DetalleAcusedeRecibo.Estado',
          ...['Version', 'RNCEmisor', 'RNCComprador', 'eNCF'].map(
            (name) => `schema.required ARECF.DetalleAcusedeRecibo.${name}`,
          ),
        ),
    ],
    [receipt(`${good}<Foo/>`), ['schema.unknown ARECF.DetalleAcusedeRecibo.Foo']],
    [receipt(`x${good}`), ['schema.type ARECF.DetalleAcusedeRecibo']],
    [receipt(`<![CDATA[ ]]>${good}`), ['schema.type ARECF.DetalleAcusedeRecibo']],
    [receipt(good.replace('>0<', '><a/>0<')), ['schema.type ARECF.DetalleAcusedeRecibo.Estado']],
    [receipt(good.replace('<Estado>', '<Estado a="1">')), ['schema.unknown ARECF.DetalleAcusedeRecibo.Estado']],
    [receipt(good, '<a/><b/>'), ['schema.unknown ARECF.b']],
    [`<ECF xmlns="urn:x"/>`, ['schema.unknown ECF of the namespace urn:x']],
    ['<Foo/>', ['schema.unknown Foo']],
    ['<ECF/>', ['schema.required ECF.Encabezado.IdDoc.TipoeCF']],
  ])('%s', (source, faults) => {
    expect(of(source)).toEqual(faults);
  });

  it('report a missing or misplaced signature', () => {
    const seed = (content: string): string => `<SemillaModel>${content}</SemillaModel>`;
    const signature = '<Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/>';
    const valor = '<valor>x</valor><fecha>2026-01-31T09:30:00-04:00</fecha>';
    expect(of(seed(valor + signature))).toEqual([]);
    expect(of(seed(valor))).toEqual(['schema.required SemillaModel.Signature']);
    expect(of(seed(valor + signature + signature))).toEqual(['schema.repeat SemillaModel.Signature']);
    expect(of(seed(signature + valor))).toEqual([
      'schema.order SemillaModel.Signature',
      'schema.required SemillaModel.Signature',
    ]);
  });

  it('still name the document if the type is unlisted', () => {
    const source = '<ECF><Encabezado><IdDoc><TipoeCF>99</TipoeCF><eNCF>E310000000001</eNCF></IdDoc></Encabezado></ECF>';
    expect(checkXml(parseXml(Buffer.from(source)))).toMatchObject({
      document: 'ECF',
      type: null,
      encf: 'E310000000001',
      tree: null,
    });
  });
});

describe('texts that the software of recipients reads otherwise', () => {
  const issuerOf = (document: unknown) => {
    const { valid, tree, warnings, faults } = examineJson(document, { now });
    for (const { severity } of warnings) expect(severity).toBe('warning');
    const header = groupOf(groupOf(tree, 'ECF'), 'Encabezado');
    return { valid, faults, warnings: namesOf(warnings), issuer: groupOf(header, 'Emisor') };
  };

  it.each([
    ['Calle Uno 1\r\nEdificio Dos', 'Calle Uno 1\nEdificio Dos'],
    ['Calle Uno 1\rEdificio Dos\r', 'Calle Uno 1\nEdificio Dos\n'],
    ['Calle Uno 1&#13;&#xD;&#10;Edificio Dos', 'Calle Uno 1\n\nEdificio Dos'],
  ])('%j is written with line feeds, and a warning names the element', (stated, written) => {
    const { valid, warnings, issuer } = issuerOf(expense((parts) => (parts.issuer.DireccionEmisor = stated)));
    expect(valid).toBe(true);
    expect(issuer?.DireccionEmisor).toBe(written);
    expect(warnings).toEqual(['schema.carriage-return ECF.Encabezado.Emisor.DireccionEmisor']);
  });

  it('leaves U+0085 and U+2028 as they are, because XML 1.0 reads them as ordinary characters', () => {
    const stated = 'Calle\u0085Uno\u2028Dos\nTres';
    const { warnings, issuer } = issuerOf(expense((parts) => (parts.issuer.DireccionEmisor = stated)));
    expect(issuer?.DireccionEmisor).toBe(stated);
    expect(warnings).toEqual([]);
  });

  it.each([' ', '\t\r\n', '&#32;', [' '], [['', ' ']]])(
    'leaves an optional element of blanks (%j) out with a warning',
    (blanks) => {
      const { valid, warnings, issuer } = issuerOf(expense((parts) => (parts.issuer.NombreComercial = blanks)));
      expect(valid).toBe(true);
      expect(issuer).not.toHaveProperty('NombreComercial');
      expect(warnings).toEqual(['schema.blanks ECF.Encabezado.Emisor.NombreComercial']);
    },
  );

  it.each([' ', '\t\r\n', '&#32;'])('refuses a required element of blanks (%j)', (blanks) => {
    const { faults } = issuerOf(expense((parts) => (parts.issuer.RazonSocialEmisor = blanks)));
    expect(namesOf(faults)).toEqual(['schema.required ECF.Encabezado.Emisor.RazonSocialEmisor']);
    expect(faults[0]?.message).toContain('holds only blanks, which count as absent');
  });

  it('refuses a document of escaped blanks', () => {
    expect(namesOf(checkJson({ ACECF: '&#32;' }).faults)).toEqual(['schema.unknown ']);
  });
});

describe('numbers in JSON', () => {
  const faultsOf = (text: string) => checkJson(parseDocument(text)).faults;
  const withNumber = (name: string, stated: string, change: (parts: Parts) => void = () => {}) =>
    JSON.stringify(expense(change)).replace(new RegExp(`"${name}":"[^"]*"`), `"${name}":${stated}`);

  it.each([
    ['TipoeCF', '43'],
    ['RNCEmisor', '133470616'],
    ['Version', '1.0'],
    ['NumeroLinea', '1'],
    ['IndicadorFacturacion', '4'],
    ['NombreItem', '7'],
  ])('%s is refused as a number', (name, stated) => {
    const [fault, ...more] = faultsOf(withNumber(name, stated));
    expect(more).toEqual([]);
    expect(fault?.rule).toBe('schema.text-expected');
    expect(fault?.path.endsWith(name)).toBe(true);
    expect(fault?.message).toBe(`${name} is the number ${stated}; send it as text: a number loses its leading zeros.`);
  });

  it.each(['MontoTotal', 'CantidadItem', 'PrecioUnitarioItem'])('%s is taken as a number, with its digits', (name) => {
    const { faults, tree } = checkJson(parseDocument(withNumber(name, '10.50')));
    expect(faults).toEqual([]);
    expect(JSON.stringify(tree)).toContain(`"${name}":"10.50"`);
  });

  it('are taken for amounts, quantities and percentages alone', () => {
    const taken = new Map<string, boolean>();
    const visit = (rule: ElementRule): void => {
      if (rule.type && rule.type.base !== 'decimal') taken.set(rule.name, rule.takesNumber);
      for (const child of rule.children ?? []) visit(child);
    };
    for (const { id } of DOCUMENTS) visit(schemaOf(id).root);
    const whole = [...taken].filter(([, isTaken]) => isTaken).map(([name]) => name);
    expect(whole.sort()).toEqual(['CantidadeNCFAnulados', 'ITBIS1', 'ITBIS2', 'ITBIS3', 'Lineas', 'TotalPaginas']);
    for (const name of ['TipoeCF', 'eNCF', 'RNCComprador', 'FechaEmision', 'TelefonoEmisor', 'NumeroLinea']) {
      expect(taken.get(name)).toBe(false);
    }
  });
});

describe('faults that the schemas allow and the authority rejects', () => {
  const summary = (buyer: string): string =>
    '<RFCE><Encabezado><Version>1.0</Version><IdDoc><TipoeCF>32</TipoeCF><eNCF>E320000000001</eNCF><TipoIngresos>01</TipoIngresos>' +
    '<TipoPago>1</TipoPago></IdDoc><Emisor><RNCEmisor>133470616</RNCEmisor><RazonSocialEmisor>x</RazonSocialEmisor>' +
    `<FechaEmision>01-02-2026</FechaEmision></Emisor>${buyer}<Totales><MontoTotal>1.00</MontoTotal></Totales>` +
    '<CodigoSeguridadeCF>abcdef</CodigoSeguridadeCF></Encabezado><Signature xmlns="http://www.w3.org/2000/09/xmldsig#"/></RFCE>';

  it.each(['<Comprador/>', '<Comprador> </Comprador>', '<Comprador><RazonSocialComprador/></Comprador>'])(
    '%s',
    (buyer) => {
      const xml = parseXml(Buffer.from(summary(buyer)));
      expect(checkXml(xml).faults).toEqual([]);
      expect(examineXml(xml, { now, schemaOnly: true }).valid).toBe(true);
      expect(namesOf(examineXml(xml, { now }).faults)).toContain('schema.empty RFCE.Encabezado.Comprador');
    },
  );

  it('a byte order mark, unless the document is written anew to be signed', () => {
    const xml = parseXml(
      Buffer.from(`\ufeff${summary('<Comprador><RazonSocialComprador>x</RazonSocialComprador></Comprador>')}`),
    );
    expect(examineXml(xml, { now, schemaOnly: true }).valid).toBe(true);
    expect(examineXml(xml, { now }).faults).toContainEqual(
      expect.objectContaining({ path: 'RFCE', rule: 'schema.unknown', code: '1' }),
    );
    expect(examineXml(xml, { now, unsigned: true }).faults.map(({ code }) => code)).not.toContain('1');
  });

  it('comments inside the root, which receivers refuse: a warning, unless the document is written anew', () => {
    const xml = summary('<Comprador><RazonSocialComprador>x</RazonSocialComprador></Comprador>');
    const examined = (source: string, unsigned = false) =>
      namesOf(examineXml(parseXml(Buffer.from(source)), { now, unsigned }).warnings);
    const inside = xml.replace('<RazonSocialComprador>x', '<RazonSocialComprador>x<!-- a -->');
    expect(examined(inside)).toContain('schema.unknown RFCE');
    expect(examined(inside, true)).not.toContain('schema.unknown RFCE');
    expect(examined(`<!-- a -->${xml}<!-- b -->`)).not.toContain('schema.unknown RFCE');
  });

  it('in JSON: a group of blanks counts as absent', () => {
    const value = { ECF: { Encabezado: { IdDoc: { TipoeCF: '43' }, Transporte: '  ' } } };
    expect(namesOf(checkJson(value).faults)).not.toContain('schema.unknown ECF.Encabezado.Transporte');
    const rfce = { RFCE: { Encabezado: { Version: '1.0', Comprador: ' ' } } };
    expect(namesOf(checkJson(rfce).faults)).toContain('schema.required RFCE.Encabezado.Comprador');
  });
});
