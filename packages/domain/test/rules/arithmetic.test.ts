import { describe, expect, it } from '@jest/globals';
import type { DocumentNode } from '../../src/document/document-tree.js';
import { checkBusinessRules } from '../../src/rules/check.js';
import { changed, example } from '../documents.js';
import { NOW } from './cases.js';

const TOTALS = 'Encabezado.Totales';
const TAX = `${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional`;

function warnings(tree: DocumentNode): string[] {
  const verdicts = checkBusinessRules(tree, { now: NOW });
  expect(verdicts.faults).toEqual([]);
  return verdicts.warnings.map(({ path, message }) => `${path}: ${message}`);
}

/** One taxed line of 500.00 that carries a tax. */
function taxed(code: string, rate: string, amount: string, included: boolean): DocumentNode {
  return changed(example('ecf-32'), {
    'Encabezado.IdDoc.IndicadorMontoGravado': included ? '1' : '0',
    'DetallesItems.Item': [
      {
        NumeroLinea: '1',
        IndicadorFacturacion: '1',
        NombreItem: 'Servicio',
        IndicadorBienoServicio: '2',
        CantidadItem: '1.00',
        PrecioUnitarioItem: '500.00',
        TablaImpuestoAdicional: { ImpuestoAdicional: [{ TipoImpuesto: code }] },
        MontoItem: '500.00',
      },
    ],
    [TOTALS]: {
      MontoGravadoTotal: included ? '423.73' : '500.00',
      MontoGravadoI1: included ? '423.73' : '500.00',
      ITBIS1: '18',
      TotalITBIS: included ? '76.27' : '90.00',
      TotalITBIS1: included ? '76.27' : '90.00',
      MontoImpuestoAdicional: amount,
      ImpuestosAdicionales: {
        ImpuestoAdicional: [{ TipoImpuesto: code, TasaImpuestoAdicional: rate, OtrosImpuestosAdicionales: amount }],
      },
      MontoTotal: included ? add('500.00', amount) : add('590.00', amount),
    },
  });
}

function add(one: string, other: string): string {
  return (Number(one) + Number(other)).toFixed(2);
}

describe('the official tolerance', () => {
  it('does not warn within 1.00 a line and the number of lines in total', () => {
    // The official example: lines off by 0.99, 0.74 and 1.00, the total by 2.73, three lines.
    const tree = changed(example('ecf-31'), {
      'DetallesItems.Item[1].MontoItem': '7500.99',
      'DetallesItems.Item[2].MontoItem': '1749.26',
      'DetallesItems.Item[3].MontoItem': '551.00',
      [`${TOTALS}.MontoTotal`]: '11432.73',
    });
    expect(warnings(tree)).toEqual([]);
  });

  it('names the field and both values beyond it', () => {
    expect(warnings(changed(example('ecf-31'), { 'DetallesItems.Item[2].MontoItem': '1751.01' }))).toEqual([
      'ECF.DetallesItems.Item[2].MontoItem: MontoItem is 1751.01; expected 1750.00: price × quantity − discount + surcharge',
    ]);
    expect(warnings(changed(example('ecf-31'), { [`${TOTALS}.MontoTotal`]: '11433.01' }))).toEqual([
      'ECF.Encabezado.Totales.MontoTotal: MontoTotal is 11433.01; expected 11430.00: MontoGravadoTotal + MontoExento + TotalITBIS + MontoImpuestoAdicional (tolerance 3.00)',
    ]);
  });

  it('compares the computed amount rounded half up', () => {
    const item = 'DetallesItems.Item[1]';
    const off = (amount: string) =>
      warnings(
        changed(example('ecf-33'), {
          [`${item}.CantidadItem`]: '0.10',
          [`${item}.PrecioUnitarioItem`]: '6000.0450',
          [`${item}.MontoItem`]: amount,
        }),
      ).filter((text) => text.includes('MontoItem'));
    expect(off('601.00')).toEqual([]);
    expect(off('601.01')).toHaveLength(1);
  });
});

describe('additional taxes', () => {
  it.each([
    ['001', '10', '50.00', false],
    ['002', '2', '10.00', false],
    ['002', '2', '8.47', true],
    ['003', '16', '80.00', false],
    ['004', '10', '42.37', true],
    ['005', '17', '85.00', true],
  ])('%s at %s %% of 500.00 is %s, ITBIS included: %s', (code, rate, amount, included) => {
    expect(warnings(taxed(code, rate, amount, included))).toEqual([]);
    const wrong = checkBusinessRules(taxed(code, rate, add(amount, '1.01'), included), { now: NOW });
    expect(wrong.faults.map(({ rule }) => rule)).toEqual(['business.additional-tax-detail']);
  });

  it('take the telecommunication taxes out of the price under Norma 10-07', () => {
    const tree = changed(taxed('002', '2', '7.69', true), {
      'DetallesItems.Item[1].TablaImpuestoAdicional.ImpuestoAdicional[2]': { TipoImpuesto: '004' },
      [`${TAX}[2]`]: { TipoImpuesto: '004', TasaImpuestoAdicional: '10', OtrosImpuestosAdicionales: '38.46' },
      DescuentosORecargos: {
        DescuentoORecargo: [
          {
            NumeroLinea: '1',
            TipoAjuste: 'D',
            IndicadorNorma1007: '1',
            TipoValor: '$',
            MontoDescuentooRecargo: '40.00',
            IndicadorFacturacionDescuentooRecargo: '1',
          },
        ],
      },
      [`${TOTALS}.MontoGravadoTotal`]: '384.62',
      [`${TOTALS}.MontoGravadoI1`]: '384.62',
      [`${TOTALS}.TotalITBIS`]: '69.23',
      [`${TOTALS}.TotalITBIS1`]: '69.23',
      [`${TOTALS}.MontoImpuestoAdicional`]: '46.15',
      [`${TOTALS}.MontoTotal`]: '500.00',
      [`${TOTALS}.ValorPagar`]: '460.00',
    });
    expect(warnings(tree)).toEqual([]);
    expect(warnings(changed(tree, { [`${TOTALS}.ValorPagar`]: '500.00' }))).toHaveLength(1);
  });

  it('spread a global discount over the lines by their share', () => {
    const tree = changed(taxed('002', '2', '9.00', false), {
      DescuentosORecargos: {
        DescuentoORecargo: [
          {
            NumeroLinea: '1',
            TipoAjuste: 'D',
            TipoValor: '$',
            MontoDescuentooRecargo: '100.00',
            IndicadorFacturacionDescuentooRecargo: '1',
          },
        ],
      },
      'DetallesItems.Item[2]': {
        NumeroLinea: '2',
        IndicadorFacturacion: '1',
        NombreItem: 'Bien',
        IndicadorBienoServicio: '1',
        CantidadItem: '1.00',
        PrecioUnitarioItem: '500.00',
        MontoItem: '500.00',
      },
      [`${TOTALS}.MontoGravadoTotal`]: '900.00',
      [`${TOTALS}.MontoGravadoI1`]: '900.00',
      [`${TOTALS}.TotalITBIS`]: '162.00',
      [`${TOTALS}.TotalITBIS1`]: '162.00',
      [`${TOTALS}.MontoTotal`]: '1071.00',
    });
    expect(warnings(tree)).toEqual([]);
  });

  it.each([
    ['in bulk: price × 1.30 × quantity × 10 %', { UnidadMedida: '18' }, '023', '10', '422.50'],
    ['on cigarettes: (price / 1.18 − specific) / 1.20 × units × 20 %', { UnidadMedida: '6' }, '036', '20', '335.33'],
  ])('ad valorem %s', (_name, item, code, rate, amount) => {
    // Two packs of 24 units: on cigarettes the specific tax is 48 × 53.51 = 2568.48.
    const cigarettes = code === '036';
    const tree = changed(example('ecf-32-large'), {
      'DetallesItems.Item[2]': {
        NumeroLinea: '2',
        IndicadorFacturacion: '1',
        NombreItem: 'Mercancía',
        IndicadorBienoServicio: '1',
        CantidadItem: '2.00',
        ...item,
        CantidadReferencia: '24',
        PrecioUnitarioReferencia: '112.60',
        PrecioUnitarioItem: '1625.0000',
        TablaImpuestoAdicional: {
          ImpuestoAdicional: cigarettes ? [{ TipoImpuesto: '019' }, { TipoImpuesto: code }] : [{ TipoImpuesto: code }],
        },
        MontoItem: '3250.00',
      },
      [`${TOTALS}.ImpuestosAdicionales.ImpuestoAdicional`]: [
        ...(cigarettes
          ? [
              {
                TipoImpuesto: '019',
                TasaImpuestoAdicional: '53.51',
                MontoImpuestoSelectivoConsumoEspecifico: '2568.48',
              },
            ]
          : []),
        { TipoImpuesto: code, TasaImpuestoAdicional: rate, MontoImpuestoSelectivoConsumoAdvalorem: amount },
      ],
    });
    const about = checkBusinessRules(tree, { now: NOW });
    expect(
      [...about.faults, ...about.warnings].filter(({ rule }) => rule === 'business.additional-tax-amount'),
    ).toEqual([]);
    const wrong = changed(tree, {
      [`${TAX}[${cigarettes ? 2 : 1}].MontoImpuestoSelectivoConsumoAdvalorem`]: '300.00',
    });
    const warnings = checkBusinessRules(wrong, { now: NOW }).warnings.filter(
      ({ rule }) => rule === 'business.additional-tax-amount',
    );
    expect(warnings).toHaveLength(1);
  });
});

describe('text-only credit notes', () => {
  it('pass with lines of nothing, and with one line that is not billed', () => {
    const zero = changed(example('ecf-34'), {
      'InformacionReferencia.CodigoModificacion': '2',
      'DetallesItems.Item[1].MontoItem': '0.00',
      [TOTALS]: { MontoTotal: '0.00' },
    });
    expect(warnings(zero)).toEqual([]);
    const unbilled = changed(zero, {
      'DetallesItems.Item[1].IndicadorFacturacion': '0',
      'DetallesItems.Item[1].MontoItem': '1.00',
      [`${TOTALS}.MontoNoFacturable`]: '1.00',
    });
    expect(warnings(unbilled)).toEqual([]);
  });
});
