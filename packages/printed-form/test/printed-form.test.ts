import { confirmationAddress } from '@ecf/domain';
import { parseXml, readXml } from '@ecf/ecf-xml';
import { createPrinter, type PrintedLogo, type PrintFormat, qrPng, qrSvg, readLogo } from '@ecf/printed-form';
import { securityCode, signatureValueOf } from '@ecf/xml-signing';
import { afterAll, describe, expect, it } from '@jest/globals';
import { printedForm } from '../src/printed-form.js';
import { printable } from '../src/text.js';
import { attachmentsOf, codesOf, textsOf, topOf } from './pdf.js';
import { example, goldens, signed, withLines } from './signed.js';

const printer = createPrinter();
afterAll(() => printer.close());

const formOf = (xml: Uint8Array, contingency = false) => {
  const parsed = parseXml(xml);
  const code = securityCode(signatureValueOf(parsed) ?? '');
  return {
    code,
    tree: readXml(parsed),
    form: printedForm(readXml(parsed), { env: 'eCF', securityCode: code, contingency }),
  };
};

describe('the printed form', () => {
  it.each([...goldens])('of %s has a QR code that a decoder reads from the page', async (_, xml) => {
    const { tree, code } = formOf(xml);
    for (const format of ['letter', 'ticket'] as const) {
      const pdf = await printer.print({ xml, env: 'eCF', format });
      expect(Buffer.from(pdf.subarray(0, 5)).toString()).toBe('%PDF-');
      const [found] = await codesOf(pdf);
      expect(found?.text).toBe(confirmationAddress({ env: 'eCF', tree, securityCode: code }));
      expect(found?.width).toBeGreaterThanOrEqual(22);
      expect(Math.min(found?.left ?? 0, found?.right ?? 0, found?.bottom ?? 0)).toBeGreaterThanOrEqual(20);
    }
  });

  it('has the same bytes for the same document, also from another renderer', async () => {
    const xml = goldens.get('ecf-31') as Buffer;
    const other = createPrinter();
    try {
      const [first, second] = [printer, other].map((one) => one.print({ xml, env: 'eCF', format: 'letter' }));
      expect(Buffer.compare((await first) as Uint8Array, (await second) as Uint8Array)).toBe(0);
    } finally {
      other.close();
    }
  });

  it('of many lines repeats the QR code on each page', async () => {
    const xml = await signed(withLines(example('ecf-31'), 60));
    const codes = await codesOf(await printer.print({ xml, env: 'eCF', format: 'letter' }));
    expect(codes).toHaveLength(4);
    expect(new Set(codes.map(({ text }) => text)).size).toBe(1);
  });

  it('of 10,000 lines with different names is made within the limits of a printer', async () => {
    const document = withLines(example('ecf-33'), 10_000);
    for (const item of document.ECF.DetallesItems.Item) item.NombreItem = `Tornillo de acero ${item.NumeroLinea}`;
    const texts = await textsOf(await printer.print({ xml: await signed(document), env: 'eCF', format: 'ticket' }));
    expect(texts.at(-1)).toContain('Tornillo de acero 10000');
  });

  it('begins at the margin of the page, whatever the length of its head and the number of its columns.', async () => {
    const long = example('ecf-31');
    long.ECF.Encabezado.Emisor.RazonSocialEmisor = 'Corporación de Importaciones '.repeat(5);
    long.ECF.Encabezado.Comprador.RazonSocialComprador = 'Cooperativa Nacional '.repeat(7);
    const wide = example('ecf-31');
    wide.ECF.DetallesItems.Item[0].MontoItem = '9999999999999999.99';
    for (const document of [example('ecf-31'), long, wide]) {
      const pdf = await printer.print({ xml: await signed(document), env: 'eCF', format: 'letter' });
      expect(Math.round(await topOf(pdf))).toBe(14);
    }
  });

  it('has on each page the subtotal of the amounts on it, also where a line continues on the next page.', async () => {
    const document = withLines(example('ecf-31'), 12);
    document.ECF.DetallesItems.Item.forEach((item: Record<string, string>, index: number) => {
      item.MontoItem = `${1001 + index}.11`;
      item.DescripcionItem = 'Mesa plegable de madera. '.repeat(40);
    });
    const texts = await textsOf(await printer.print({ xml: await signed(document), env: 'eCF', format: 'letter' }));
    expect(texts.length).toBeGreaterThan(3);
    for (const text of texts.slice(0, -1)) {
      const cents = (text.match(/\b1,0[01]\d\.11\b/g) ?? []).map((one) => Number(one.replace(/[,.]/g, '')));
      const subtotal = /Subtotal de la página: ([\d,.]+)/.exec(text)?.[1] ?? '';
      expect(Number(subtotal.replace(/[,.]/g, ''))).toBe(cents.reduce((sum, one) => sum + one, 0));
    }
  });

  it('of eleven columns has its amounts side by side.', async () => {
    const document = example('ecf-31');
    const [item] = document.ECF.DetallesItems.Item;
    document.ECF.Encabezado.OtraMoneda = { TipoMoneda: 'USD', TipoCambio: '60.0000' };
    document.ECF.DetallesItems.Item = [
      {
        ...{ ...item, UnidadMedida: '21', GradosAlcohol: '40.00', CantidadItem: '1000.50' },
        ...{ PrecioUnitarioReferencia: '1000001.00', PrecioUnitarioItem: '1000002.00', DescuentoMonto: '1000003.00' },
        ...{ RecargoMonto: '1000004.00', MontoItem: '1000005.00' },
        OtraMonedaDetalle: { PrecioOtraMoneda: '1.00', MontoItemOtraMoneda: '1000006.00' },
      },
    ];
    const pdf = await printer.print({ xml: await signed(document), env: 'eCF', format: 'letter' });
    const words = (await textsOf(pdf)).join('\n').replaceAll('\u200b', '').split(/\s+/);
    for (let end = 1; end <= 6; end += 1) expect(words).toContain(`1,000,00${end}.00`);
    expect(words).toEqual(expect.arrayContaining(['1,000.5', 'Kilogramo', '40', '180,000.90']));
  });

  it('has a head of smaller type if its names would fill the page.', async () => {
    const document = example('ecf-31');
    Object.assign(document.ECF.Encabezado.Emisor, {
      ...{ RazonSocialEmisor: '漢'.repeat(150), NombreComercial: '字'.repeat(150), DireccionEmisor: '漢'.repeat(100) },
      InformacionAdicionalEmisor: '漢'.repeat(250),
    });
    const { Comprador } = document.ECF.Encabezado;
    Object.assign(Comprador, { RazonSocialComprador: '漢'.repeat(150), DireccionComprador: '漢'.repeat(100) });
    const pdf = await printer.print({ xml: await signed(document), env: 'eCF', format: 'letter' });
    expect(Math.round(await topOf(pdf))).toBe(14);
    expect(await codesOf(pdf)).toHaveLength(1);
    expect((await textsOf(pdf))[0]).toMatch(/Silla plegable.*RD\$ 11,430\.00/s);
  });

  it('shows totals by rate, the modified document and its code in words', async () => {
    const { form } = formOf(goldens.get('ecf-34') as Buffer);
    expect(form.type).toBe('Nota de Crédito Electrónica');
    expect(form.heading).toEqual(
      expect.arrayContaining([
        ['', expect.stringMatching(/^(Anula|Corrige)/)],
        ['NCF modificado', expect.any(String)],
      ]),
    );
    const { form: invoice } = formOf(goldens.get('ecf-31') as Buffer);
    expect(invoice.totals.map(({ label, value }) => [label, value])).toEqual([
      ['Gravado 18 %', '7,500.00'],
      ['Gravado 16 %', '1,750.00'],
      ['Subtotal gravado', '9,250.00'],
      ['Subtotal exento', '550.00'],
      ['ITBIS 18 %', '1,350.00'],
      ['ITBIS 16 %', '280.00'],
      ['Total ITBIS', '1,630.00'],
      ['Total', '11,430.00'],
    ]);
    expect(invoice.lines.map(({ exempt }) => exempt)).toEqual([false, false, true]);
  });

  it('computes the ITBIS inside prices that include it', async () => {
    const document = example('ecf-31');
    document.ECF.Encabezado.IdDoc.IndicadorMontoGravado = '1';
    const { form } = formOf(await signed(document));
    const itbis = form.columns.findIndex(({ title }) => title === 'ITBIS');
    expect(form.lines[0]?.cells[itbis]).toBe('1,144.07');
  });

  it('computes the ITBIS of a line with its selective taxes, and leaves it empty where these are not known.', async () => {
    const document = example('ecf-31');
    const [item] = document.ECF.DetallesItems.Item;
    const beer = { TablaImpuestoAdicional: { ImpuestoAdicional: [{ TipoImpuesto: '006' }, { TipoImpuesto: '023' }] } };
    const ISC = [
      { TipoImpuesto: '006', TasaImpuestoAdicional: '1', MontoImpuestoSelectivoConsumoEspecifico: '60.00' },
      { TipoImpuesto: '023', TasaImpuestoAdicional: '10', MontoImpuestoSelectivoConsumoAdvalorem: '40.00' },
      { TipoImpuesto: '001', TasaImpuestoAdicional: '10', OtrosImpuestosAdicionales: '7.00' },
    ];
    document.ECF.Encabezado.Totales.ImpuestosAdicionales = { ImpuestoAdicional: ISC };
    const itbis = async (lines: readonly object[]) => {
      const Item = lines.map((line, index) => ({
        ...item,
        MontoItem: '1000.00',
        ...line,
        NumeroLinea: `${index + 1}`,
      }));
      document.ECF.DetallesItems = { Item };
      const { form } = formOf(await signed(document));
      return form.lines.map(({ cells }) => cells[form.columns.findIndex(({ title }) => title === 'ITBIS')]);
    };
    const tip = { TablaImpuestoAdicional: { ImpuestoAdicional: [{ TipoImpuesto: '001' }] } };
    expect(await itbis([beer, tip])).toEqual(['198.00', '180.00']);
    expect(await itbis([beer, beer, {}])).toEqual(['', '', '180.00']);
    expect(await itbis([{ ...beer, IndicadorFacturacion: '2' }, { IndicadorFacturacion: '4' }])).toEqual(['', '0.00']);
  });

  it('pairs the amounts of an additional tax by its code, and shows no amount for a repeated code.', async () => {
    const document = example('ecf-31');
    const { Totales, ...header } = document.ECF.Encabezado;
    const totals = async (codes: readonly string[], foreign: readonly string[]) => {
      document.ECF.Encabezado = {
        ...header,
        Totales: {
          ...Totales,
          ImpuestosAdicionales: {
            ImpuestoAdicional: codes.map((TipoImpuesto) => ({ TipoImpuesto, OtrosImpuestosAdicionales: '60.00' })),
          },
        },
        OtraMoneda: {
          ...{ TipoMoneda: 'USD', TipoCambio: '60.0000' },
          ImpuestosAdicionalesOtraMoneda: {
            ImpuestoAdicionalOtraMoneda: foreign.map((TipoImpuestoOtraMoneda) => ({
              TipoImpuestoOtraMoneda,
              OtrosImpuestosAdicionalesOtraMoneda: '1.00',
            })),
          },
        },
      };
      const { form } = formOf(await signed(document));
      return form.totals.filter(({ value }) => value === '60.00').map(({ label, foreign }) => [label, foreign]);
    };
    expect(await totals(['001', '002'], ['002'])).toEqual([
      ['Propina legal', ''],
      ['CDT', '1.00'],
    ]);
    expect(await totals(['002', '002'], ['002'])).toEqual([
      ['CDT', ''],
      ['CDT', ''],
    ]);
  });

  it('shows amounts in another currency beside pesos', async () => {
    const { form } = formOf(goldens.get('ecf-47') as Buffer);
    expect(form.currency).toMatch(/^[A-Z]{3}$/);
    expect(form.columns.map(({ title }) => title)).toContain('Valor (DOP)');
    expect(form.totals.find(({ label }) => label === 'Total')?.foreign).not.toBe('');
    expect(form.totals.map(({ label }) => label)).toContain('ISR retenido');
  });

  it('shows the legends of contingency and deferred sending, and marks documents of TesteCF', async () => {
    const document = example('ecf-31');
    document.ECF.Encabezado.IdDoc.IndicadorEnvioDiferido = '1';
    const parsed = parseXml(await signed(document));
    const { legends } = printedForm(readXml(parsed), { env: 'TesteCF', securityCode: 'abcdef', contingency: true });
    expect(legends).toEqual([
      expect.stringContaining('Envío Diferido'),
      expect.stringContaining('modalidad de Contingencia'),
      expect.stringContaining('sin validez fiscal'),
    ]);
  });

  it('prints names of every script and length, and amounts of every size', async () => {
    const document = example('ecf-31');
    const [item] = document.ECF.DetallesItems.Item;
    const names = [
      '#strong[x] $a$ @b <c> // \\ *_`',
      'العربية',
      '中文字符',
      '😀👩‍👩‍👧',
      'e\u0301\u0323',
      '\u202ertl',
      'W'.repeat(80),
    ];
    const most = '9999999999999999.99';
    document.ECF.DetallesItems.Item = names.map((NombreItem, index) => ({
      ...item,
      ...{ NombreItem, NumeroLinea: String(index + 1), MontoItem: most, CantidadItem: most, DescuentoMonto: most },
      DescripcionItem: 'y'.repeat(1000),
    }));
    document.ECF.Encabezado.Emisor.RazonSocialEmisor = 'Ñ'.repeat(150);
    document.ECF.Encabezado.Comprador.RazonSocialComprador = '😀'.repeat(75);
    const xml = await signed(document);
    for (const format of ['letter', 'ticket'] as const) {
      expect((await codesOf(await printer.print({ xml, env: 'eCF', format }))).length).toBeGreaterThan(0);
    }
  });

  it('is refused for a document with more lines than its type may have, instead of leaving lines out', async () => {
    const xml = await signed(withLines(example('ecf-31'), 1_001));
    const printing = printer.print({ xml, env: 'eCF', format: 'letter' });
    await expect(printing).rejects.toMatchObject({
      code: 'not_printable',
      message: 'The document has 1001 lines, but at most 1000 are allowed for its type.',
    });
  });

  it('is refused for a document that is not a signed e-CF', async () => {
    const withoutValue = (goldens.get('ecf-31') as Buffer)
      .toString()
      .replace(/<SignatureValue>.*<\/SignatureValue>/s, '');
    for (const xml of ['<a/>', '', 'no XML', withoutValue]) {
      const printing = printer.print({ xml: Buffer.from(xml), env: 'eCF', format: 'letter' });
      await expect(printing).rejects.toMatchObject({ code: 'not_printable' });
    }
  });
});

describe('a printer', () => {
  const xml = goldens.get('ecf-32') as Buffer;

  it('prints again after its renderer was killed by the memory or time limit', async () => {
    for (const limits of [{ memoryLimit: 150 * 2 ** 20 }, { timeLimitMs: 1 }]) {
      const limited = createPrinter(limits);
      try {
        const long = await signed(withLines(example('ecf-33'), 10_000));
        const printing = limited.print({ xml: long, env: 'eCF', format: 'letter' });
        await expect(printing).rejects.toMatchObject({ code: 'renderer_failed' });
      } finally {
        limited.close();
      }
    }
    expect((await printer.print({ xml, env: 'eCF', format: 'ticket' })).length).toBeGreaterThan(0);
  });

  it('refuses documents when too many wait', async () => {
    const small = createPrinter({ mostWaiting: 1 });
    try {
      const printing = Array.from({ length: 4 }, () => small.print({ xml, env: 'eCF', format: 'ticket' }));
      const codes = (await Promise.allSettled(printing)).map((one) => one.status === 'rejected' && one.reason.code);
      expect(codes.filter((code) => code === 'renderer_busy')).toHaveLength(2);
      expect(codes.filter((code) => code === false)).toHaveLength(2);
    } finally {
      small.close();
    }
  });
});

describe('texts', () => {
  const digits = new Set(Array.from('0123456789,.').map((one) => one.codePointAt(0) ?? 0));
  const glyphs = new Set(
    Array.from('abcdefghijklmnopqrstuvwxyzé[]+U0123456789ABCDEF ').map((one) => one.codePointAt(0) ?? 0),
  );

  it('show characters that the fonts lack by their number, and drop marks without a glyph', () => {
    expect(printable('caf\u0065\u0301 \u{1F600}\u200d', glyphs)).toBe('café [U+1F600]');
    expect(printable('a\tb\nc', glyphs)).toBe('a b c');
  });

  it('show characters that change the direction of a text by their number, and drop those without ink.', () => {
    const invisible = [0xad, 0x200b, 0x200e, 0x200f, 0x202d, 0x202e, 0x2061, 0x2064, 0x2066, 0x2069];
    const noto = new Set([...glyphs, ...invisible]);
    expect(printable('a\u202eb', noto)).toBe('a[U+202E]b');
    expect(printable('\u2066a\u2069', noto)).toBe('[U+2066]a[U+2069]');
    expect(printable('a\u200eb\u200f', noto)).toBe('a[U+200E]b[U+200F]');
    expect(printable('a\u00ad\u200b\u2061\u2064b', noto)).toBe('ab');
  });

  it('get places to break in words that are longer than a column', () => {
    expect(printable('x'.repeat(30), glyphs)).toContain('\u200b');
    expect(printable('x'.repeat(20), glyphs)).not.toContain('\u200b');
  });

  it('get these places in numbers too, and amounts only between their groups of digits.', () => {
    expect(printable('1'.repeat(35), digits).split('\u200b')[0]).toBe('1'.repeat(8));
    expect(printable(`1,${'1'.repeat(80)}`, digits).split('\u200b')[1]).toHaveLength(8);
    expect(printable('9,999,999,999,999,999.99', digits).split('\u200b')).toEqual([
      ...['9,', '999,', '999,', '999,', '999,', '999.99'],
    ]);
    expect(printable('999,999,999.99', digits)).toBe('999,999,999.99');
  });
});

describe('a logo', () => {
  const xml = goldens.get('ecf-31') as Buffer;
  const print = (logo: PrintedLogo | null, format: PrintFormat) => printer.print({ xml, env: 'eCF', format, logo });

  it('is printed in both formats, with the same bytes for the same document and logo.', async () => {
    const logo = readLogo(qrPng('https://example.com'));
    for (const format of ['letter', 'ticket'] as const) {
      const [plain, printed, again] = await Promise.all([null, logo, logo].map((one) => print(one, format)));
      expect((printed?.length ?? 0) > (plain?.length ?? 0)).toBe(true);
      expect(Buffer.compare(again as Uint8Array, printed as Uint8Array)).toBe(0);
    }
  });
});

describe('a QR code', () => {
  it('has a quiet zone of four modules, as SVG and as PNG', () => {
    const svg = qrSvg('https://example.com');
    expect(svg).toMatch(/viewBox="0 0 57 57"/);
    expect(svg).toContain('M4 4h1v1h-1z');
    expect(Buffer.from(qrPng('https://example.com')).readUInt32BE(16)).toBe(57 * 8);
  });
});

describe('the attachment of a printed form', () => {
  it('is the signed XML, byte for byte, under the name of its e-NCF and as the source of the page.', async () => {
    for (const format of ['letter', 'ticket'] as const) {
      const xml = goldens.get('ecf-31') as Buffer;
      const attachments = attachmentsOf(await printer.print({ xml, env: 'eCF', format }));
      expect(attachments).toEqual([{ name: 'E310000000001.xml', relationship: 'Source', bytes: xml }]);
    }
  });
});

describe('the documents that wait for a printer', () => {
  const xml = goldens.get('ecf-32') as Buffer;
  const request = { xml, env: 'eCF', format: 'ticket' } as const;
  const codeOf = (printing: Promise<unknown>) =>
    printing.then(
      () => 'printed',
      (error) => error.code,
    );

  it('are at most a quarter of the places for one owner, and others still find one.', async () => {
    const small = createPrinter({ mostWaiting: 8 });
    try {
      const owners = ['one', 'one', 'one', 'one', 'other'];
      const codes = await Promise.all(owners.map((owner) => codeOf(small.print({ ...request, owner }))));
      expect(codes).toEqual(['printed', 'printed', 'printed', 'renderer_busy', 'printed']);
    } finally {
      small.close();
    }
  });

  it('are refused before they are read when there is no place.', async () => {
    const none = createPrinter({ mostWaiting: 0 });
    expect(await codeOf(none.print({ ...request, xml: Buffer.from('no XML') }))).toBe('renderer_busy');
  });

  it('are not printed after their caller left, and give their place to others.', async () => {
    const small = createPrinter({ mostWaiting: 1 });
    try {
      const caller = new AbortController();
      const codes = [request, { ...request, signal: caller.signal }].map((one) => codeOf(small.print(one)));
      caller.abort();
      codes.push(codeOf(small.print(request)), codeOf(small.print({ ...request, signal: caller.signal })));
      expect(await Promise.all(codes)).toEqual(['printed', 'caller_left', 'printed', 'caller_left']);
    } finally {
      small.close();
    }
  });

  it('are printed in their turn if they are long, though short ones come after them.', async () => {
    const long = await signed(withLines(example('ecf-31'), 201));
    const order: string[] = [];
    const fresh = createPrinter();
    const print = (name: string) =>
      fresh.print({ ...request, xml: name === 'long' ? long : xml }).then(() => order.push(name));
    try {
      await Promise.all(['first', 'long', 'second', 'third', 'fourth', 'fifth'].map(print));
    } finally {
      fresh.close();
    }
    expect(order).toEqual(['first', 'second', 'third', 'long', 'fourth', 'fifth']);
  });

  it('fail with an error of the page, not of the document, if their logo cannot be drawn.', async () => {
    const logo: PrintedLogo = { type: 'png', bytes: Buffer.from('no picture') };
    await expect(printer.print({ ...request, logo })).rejects.toMatchObject({
      code: 'layout_failed',
      message: expect.stringMatching(/could not be laid out: .+ replace the logo/),
    });
    expect(await codeOf(printer.print(request))).toBe('printed');
  });
});
