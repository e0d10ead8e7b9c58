import type { RuleCase } from './cases.js';

const LINE = 'DetalleAnulacion.Anulacion';
const RANGE = 'TablaRangoSecuenciasAnuladaseNCF.Secuencias';

export const COMPANION_CASES: readonly RuleCase[] = [
  {
    rule: 'business.summary-buyer-one-identifier',
    on: 'rfce',
    breaks: {
      'Encabezado.Comprador.RNCComprador': '188888885',
      'Encabezado.Comprador.IdentificadorExtranjero': 'X-1',
    },
    at: 'RFCE.Encabezado.Comprador.IdentificadorExtranjero',
    keeps: { 'Encabezado.Comprador.IdentificadorExtranjero': 'X-1' },
  },
  {
    rule: 'business.approval-reason-required',
    on: 'acecf',
    breaks: { 'DetalleAprobacionComercial.DetalleMotivoRechazo': undefined },
    at: 'ACECF.DetalleAprobacionComercial.DetalleMotivoRechazo',
  },
  {
    rule: 'business.approval-reason-unasked',
    on: 'acecf',
    breaks: { 'DetalleAprobacionComercial.Estado': '1' },
    at: 'ACECF.DetalleAprobacionComercial.DetalleMotivoRechazo',
    keeps: {
      'DetalleAprobacionComercial.Estado': '1',
      'DetalleAprobacionComercial.DetalleMotivoRechazo': undefined,
    },
  },
  {
    rule: 'business.approval-type',
    on: 'acecf',
    breaks: { 'DetalleAprobacionComercial.eNCF': 'E320000000001' },
    at: 'ACECF.DetalleAprobacionComercial.eNCF',
    keeps: { 'DetalleAprobacionComercial.eNCF': 'E450000000001' },
  },
  {
    rule: 'business.receipt-reason-required',
    on: 'arecf',
    breaks: { 'DetalleAcusedeRecibo.Estado': '1' },
    at: 'ARECF.DetalleAcusedeRecibo.CodigoMotivoNoRecibido',
    keeps: { 'DetalleAcusedeRecibo.Estado': '1', 'DetalleAcusedeRecibo.CodigoMotivoNoRecibido': '3' },
  },
  {
    rule: 'business.receipt-reason-unasked',
    on: 'arecf',
    breaks: { 'DetalleAcusedeRecibo.CodigoMotivoNoRecibido': '3' },
    at: 'ARECF.DetalleAcusedeRecibo.CodigoMotivoNoRecibido',
  },
  {
    rule: 'business.cancellation-line-order',
    on: 'anecf',
    breaks: { [`${LINE}[2].NoLinea`]: '3' },
    at: `ANECF.${LINE}[2].NoLinea`,
    keeps: { [`${LINE}[2].NoLinea`]: ['02'] },
  },
  {
    rule: 'business.cancellation-line-order',
    on: 'anecf',
    breaks: { [`${LINE}[1].NoLinea`]: ['1', '2'] },
    at: `ANECF.${LINE}[1].NoLinea`,
  },
  {
    rule: 'business.cancellation-number-format',
    on: 'anecf',
    breaks: { [`${LINE}[1].${RANGE}[1].SecuenciaeNCFDesde`]: 'B310000000050' },
    at: `ANECF.${LINE}[1].${RANGE}[1].SecuenciaeNCFDesde`,
  },
  {
    rule: 'business.cancellation-number-format',
    on: 'anecf',
    breaks: { [`${LINE}[1].${RANGE}[1].SecuenciaeNCFDesde`]: 'E310000000000' },
    at: `ANECF.${LINE}[1].${RANGE}[1].SecuenciaeNCFDesde`,
  },
  {
    rule: 'business.cancellation-type',
    on: 'anecf',
    breaks: { [`${LINE}[2].TipoeCF`]: '33' },
    at: `ANECF.${LINE}[2].${RANGE}[1].SecuenciaeNCFDesde`,
  },
  {
    rule: 'business.cancellation-type',
    on: 'anecf',
    breaks: { [`${LINE}[2].${RANGE}[1].SecuenciaeNCFHasta`]: 'E330000000103' },
    at: `ANECF.${LINE}[2].${RANGE}[1].SecuenciaeNCFHasta`,
  },
  {
    rule: 'business.cancellation-range-order',
    on: 'anecf',
    breaks: { [`${LINE}[2].${RANGE}[1].SecuenciaeNCFDesde`]: 'E320000000104' },
    at: `ANECF.${LINE}[2].${RANGE}[1].SecuenciaeNCFDesde`,
  },
  {
    rule: 'business.cancellation-line-quantity',
    on: 'anecf',
    breaks: { [`${LINE}[1].CantidadeNCFAnulados`]: '9' },
    at: `ANECF.${LINE}[1].CantidadeNCFAnulados`,
    keeps: { [`${LINE}[1].CantidadeNCFAnulados`]: '0000000010' },
  },
  {
    rule: 'business.cancellation-quantity',
    on: 'anecf',
    breaks: { 'Encabezado.CantidadeNCFAnulados': '12' },
    at: 'ANECF.Encabezado.CantidadeNCFAnulados',
  },
  {
    rule: 'business.cancellation-overlap',
    on: 'anecf',
    breaks: {
      [`${LINE}[1].${RANGE}[3]`]: { SecuenciaeNCFDesde: 'E310000000065', SecuenciaeNCFHasta: 'E310000000070' },
    },
    at: `ANECF.${LINE}[1].${RANGE}[3].SecuenciaeNCFDesde`,
    keeps: {
      [`${LINE}[1].${RANGE}[3]`]: { SecuenciaeNCFDesde: 'E310000000069', SecuenciaeNCFHasta: 'E310000000070' },
    },
  },
];
