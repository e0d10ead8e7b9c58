import type { RuleCase } from './cases.js';

const REFERENCE = 'InformacionReferencia';
const NUMBER = `${REFERENCE}.NCFModificado`;
const CODE = `${REFERENCE}.CodigoModificacion`;

export const REFERENCE_CASES: readonly RuleCase[] = [
  {
    rule: 'business.reference-incomplete',
    on: 'ecf-31',
    breaks: { [NUMBER]: 'B0100000001' },
    at: `ECF.${CODE}`,
    keeps: { [NUMBER]: 'B0100000001', [CODE]: '4' },
  },
  {
    rule: 'business.reference-incomplete',
    on: 'ecf-31',
    breaks: { [NUMBER]: 'E320000000001', [CODE]: '5' },
    at: `ECF.${REFERENCE}.FechaNCFModificado`,
    keeps: { [NUMBER]: 'E320000000001', [CODE]: '5', [`${REFERENCE}.FechaNCFModificado`]: '15-06-2026' },
  },
  {
    rule: 'business.modified-number-format',
    on: 'ecf-34',
    breaks: { [NUMBER]: 'E31000000001' },
    at: `ECF.${NUMBER}`,
    keeps: { [NUMBER]: 'B0100000001' },
  },
  {
    rule: 'business.modified-number-format',
    on: 'ecf-34',
    breaks: { [NUMBER]: 'E3100000001' },
    at: `ECF.${NUMBER}`,
    keeps: { [NUMBER]: 'A010010010100000001' },
  },
  {
    rule: 'business.modification-code',
    on: 'ecf-34',
    breaks: { [CODE]: '5' },
    at: `ECF.${CODE}`,
    keeps: { [CODE]: '1' },
  },
  {
    rule: 'business.modification-code-other-types',
    on: 'ecf-44',
    breaks: {
      [REFERENCE]: { NCFModificado: 'B1400000001', FechaNCFModificado: '01-06-2026', CodigoModificacion: '3' },
    },
    at: `ECF.${CODE}`,
    keeps: { [REFERENCE]: { NCFModificado: 'B1400000001', CodigoModificacion: '4' } },
  },
  {
    rule: 'business.debit-note-annuls',
    on: 'ecf-33',
    breaks: { [CODE]: '1' },
    at: `ECF.${CODE}`,
    keeps: { [CODE]: '2' },
  },
  {
    rule: 'business.note-on-note',
    on: 'ecf-34',
    breaks: { [NUMBER]: 'E330000000001' },
    at: `ECF.${NUMBER}`,
    keeps: { [NUMBER]: 'B0300000001' },
  },
  {
    rule: 'business.electronic-replacement',
    on: 'ecf-31',
    breaks: { [REFERENCE]: { NCFModificado: 'E310000000002', CodigoModificacion: '4' } },
    at: `ECF.${NUMBER}`,
    keeps: { [REFERENCE]: { NCFModificado: 'B0100000001', CodigoModificacion: '4' } },
  },
  {
    rule: 'business.consumer-reference',
    on: 'ecf-31',
    breaks: {
      [REFERENCE]: { NCFModificado: 'E440000000002', FechaNCFModificado: '01-06-2026', CodigoModificacion: '5' },
    },
    at: `ECF.${NUMBER}`,
    keeps: {
      [REFERENCE]: { NCFModificado: 'E320000000002', FechaNCFModificado: '01-06-2026', CodigoModificacion: '5' },
    },
  },
  {
    rule: 'business.other-taxpayer',
    on: 'ecf-34',
    breaks: { [`${REFERENCE}.RNCOtroContribuyente`]: '199999991' },
    at: `ECF.${REFERENCE}.RNCOtroContribuyente`,
    keeps: { [`${REFERENCE}.RNCOtroContribuyente`]: '131880681' },
  },
  {
    rule: 'business.credit-note-indicator',
    on: 'ecf-34',
    breaks: { 'Encabezado.Emisor.FechaEmision': '16-07-2026' },
    at: 'ECF.Encabezado.IdDoc.IndicadorNotaCredito',
    keeps: { 'Encabezado.Emisor.FechaEmision': '15-07-2026' },
  },
  {
    rule: 'business.credit-note-indicator',
    on: 'ecf-34',
    breaks: { 'Encabezado.IdDoc.IndicadorNotaCredito': '1' },
    at: 'ECF.Encabezado.IdDoc.IndicadorNotaCredito',
    keeps: { 'Encabezado.IdDoc.IndicadorNotaCredito': '1', 'Encabezado.Emisor.FechaEmision': '16-07-2026' },
  },
  {
    rule: 'business.reference-date-order',
    on: 'ecf-33',
    breaks: { [`${REFERENCE}.FechaNCFModificado`]: '16-06-2026' },
    at: `ECF.${REFERENCE}.FechaNCFModificado`,
  },
];
