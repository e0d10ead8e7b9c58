import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { DocumentNode } from '../src/document/document-tree.js';
import { deriveRfce } from '../src/document/rfce.js';
import { isBelowSummaryLimit, submissionRoute } from '../src/submission-route.js';
import { changed, example, SHARED } from './documents.js';

describe('the consumer summary', () => {
  it('is that of the example, key for key', () => {
    const summary = example('rfce');
    const { CodigoSeguridadeCF } = (summary.RFCE as DocumentNode).Encabezado as DocumentNode;
    expect(JSON.stringify(deriveRfce(example('ecf-32'), CodigoSeguridadeCF as string))).toBe(JSON.stringify(summary));
  });

  it('carries payments, buyer identifiers, additional taxes and amounts, and nothing else', () => {
    const ecf = changed(example('ecf-32-large'), {
      'Encabezado.IdDoc.TablaFormasPago': {
        FormaDePago: [
          { FormaPago: '1', MontoPago: '100.5' },
          { FormaPago: '3', MontoPago: '200' },
        ],
      },
      'Encabezado.Comprador.RNCComprador': undefined,
      'Encabezado.Comprador.IdentificadorExtranjero': 'X-1',
      'Encabezado.Totales.MontoNoFacturable': '-1.5',
      'Encabezado.Totales.SaldoAnterior': '5.00',
      'Encabezado.Totales.MontoTotal': '1000.4',
    });
    const header = (deriveRfce(ecf, '+/abc1').RFCE as DocumentNode).Encabezado as DocumentNode;
    expect(header.IdDoc).toEqual({
      TipoeCF: '32',
      eNCF: 'E320000000002',
      TipoIngresos: '01',
      TipoPago: '2',
      TablaFormasPago: {
        FormaDePago: [
          { FormaPago: '1', MontoPago: '100.50' },
          { FormaPago: '3', MontoPago: '200' },
        ],
      },
    });
    expect(header.Comprador).toEqual({
      IdentificadorExtranjero: 'X-1',
      RazonSocialComprador: 'Taller Caoba Imaginario, SRL',
    });
    expect(Object.keys(header.Totales as DocumentNode)).toEqual([
      'MontoGravadoTotal',
      'MontoGravadoI1',
      'TotalITBIS',
      'TotalITBIS1',
      'MontoImpuestoAdicional',
      'ImpuestosAdicionales',
      'MontoTotal',
      'MontoNoFacturable',
      'MontoPeriodo',
    ]);
    expect(header.Totales).toMatchObject({
      MontoTotal: '1000.40',
      MontoNoFacturable: '-1.50',
      ImpuestosAdicionales: {
        ImpuestoAdicional: [
          { TipoImpuesto: '006', MontoImpuestoSelectivoConsumoEspecifico: '538.96' },
          { TipoImpuesto: '023', MontoImpuestoSelectivoConsumoAdvalorem: '191.37' },
        ],
      },
    });
    expect(Object.keys(header)).toEqual(['Version', 'IdDoc', 'Emisor', 'Comprador', 'Totales', 'CodigoSeguridadeCF']);
  });

  it('has no empty groups', () => {
    const ecf = changed(example('ecf-32'), { 'Encabezado.Comprador': { CorreoComprador: 'a@b.example' } });
    expect(JSON.stringify(deriveRfce(ecf, 'abc123'))).not.toMatch(/\{\}|\[\]/);
    expect(deriveRfce({}, 'abc123')).toEqual({
      RFCE: { Encabezado: { Version: '1.0', CodigoSeguridadeCF: 'abc123' } },
    });
  });

  const folder = `${SHARED}certification/rfce/`;
  const files = SHARED !== null && existsSync(folder) ? readdirSync(folder) : [];
  if (files.length === 0) it.skip('certification: the shared folder is absent', () => undefined);
  else {
    it.each(files)('is that of certification document %s, key for key', (file) => {
      const ecf = JSON.parse(readFileSync(`${SHARED}certification/ecf/${file}`, 'utf8'));
      const expected = JSON.parse(readFileSync(folder + file, 'utf8'));
      expect(JSON.stringify(deriveRfce(ecf, '??????'))).toBe(JSON.stringify(expected));
    });
  }
});

describe('the route', () => {
  it.each([
    ['32', '249999.99', 'rfce'],
    ['32', '249999.999', 'rfce'],
    ['32', '250000', 'ecf'],
    ['32', '250000.00', 'ecf'],
    ['32', '0250000.0', 'ecf'],
    ['32', ' 0.00 ', 'rfce'],
    ['32', 'x', 'ecf'],
    ['31', '1.00', 'ecf'],
    ['34', '0.00', 'ecf'],
  ] as const)('of type %s and %j is %s', (type, total, route) => {
    expect(submissionRoute(type, total)).toBe(route);
  });

  it('has its limit at 250,000.00', () => {
    expect(isBelowSummaryLimit('249999.99')).toBe(true);
    expect(isBelowSummaryLimit('250000.00')).toBe(false);
  });
});
