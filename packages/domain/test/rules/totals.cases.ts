import type { RuleCase } from './cases.js';

const TOTALS = 'Encabezado.Totales';

/** A field of Totales that differs by slightly more than the tolerance, and by exactly the tolerance. */
function off(rule: string, on: string, field: string, beyond: string, within: string): RuleCase {
  const root = on === 'rfce' ? 'RFCE' : 'ECF';
  return {
    rule,
    on,
    breaks: { [`${TOTALS}.${field}`]: beyond },
    at: `${root}.${TOTALS}.${field}`,
    keeps: { [`${TOTALS}.${field}`]: within },
  };
}

export const TOTALS_CASES: readonly RuleCase[] = [
  {
    rule: 'business.taxed-breakdown-required',
    on: 'ecf-45',
    breaks: { [`${TOTALS}.MontoGravadoI1`]: undefined },
    at: `ECF.${TOTALS}.MontoGravadoI1`,
  },
  {
    rule: 'business.taxed-breakdown',
    on: 'rfce',
    breaks: { [`${TOTALS}.MontoGravadoI1`]: undefined },
    at: `RFCE.${TOTALS}.MontoGravadoTotal`,
  },
  off('business.itbis-rate', 'ecf-31', 'ITBIS1', '16', '18'),
  off('business.itbis-rate', 'ecf-31', 'ITBIS2', '18', '16'),
  off('business.itbis-rate', 'ecf-46', 'ITBIS3', '18', '0'),
  {
    rule: 'business.itbis-rate',
    on: 'ecf-45',
    breaks: { [`${TOTALS}.ITBIS1`]: '0' },
    at: `ECF.${TOTALS}.ITBIS1`,
    keeps: { [`${TOTALS}.ITBIS2`]: '0' },
  },
  off('business.taxed-total', 'ecf-31', 'MontoGravadoTotal', '9253.01', '9253.00'),
  off('business.taxed-total', 'rfce', 'MontoGravadoTotal', '1001.01', '1001.00'),
  off('business.itbis-18', 'ecf-31', 'TotalITBIS1', '1353.01', '1353.00'),
  off('business.itbis-18', 'rfce', 'TotalITBIS1', '178.99', '179.00'),
  {
    rule: 'business.itbis-18',
    on: 'ecf-31',
    breaks: { [`${TOTALS}.TotalITBIS1`]: undefined },
    at: `ECF.${TOTALS}.TotalITBIS1`,
  },
  off('business.itbis-16', 'ecf-31', 'TotalITBIS2', '276.99', '277.00'),
  off('business.itbis-0', 'ecf-46', 'TotalITBIS3', '1.01', '1.00'),
  off('business.itbis-total', 'ecf-31', 'TotalITBIS', '1633.01', '1627.00'),
  off('business.additional-tax-total', 'ecf-44', 'MontoImpuestoAdicional', '398.99', '399.00'),
  off('business.total-amount', 'ecf-31', 'MontoTotal', '11433.01', '11433.00'),
  off('business.total-amount', 'ecf-31', 'MontoTotal', '11426.99', '11427.00'),
  off('business.summary-total-amount', 'rfce', 'MontoTotal', '1181.01', '1181.00'),
  off('business.period-amount', 'ecf-45', 'MontoPeriodo', '70798.99', '70799.00'),
  off('business.payable-amount', 'ecf-45', 'ValorPagar', '70801.01', '70801.00'),
  {
    rule: 'business.payable-amount',
    on: 'ecf-45',
    breaks: { [`${TOTALS}.MontoAvancePago`]: '800.00' },
    at: `ECF.${TOTALS}.ValorPagar`,
    keeps: { [`${TOTALS}.MontoAvancePago`]: '800.00', [`${TOTALS}.SaldoAnterior`]: '+800.00' },
  },
  {
    rule: 'business.exempt-total-required',
    on: 'ecf-31',
    breaks: { [`${TOTALS}.MontoExento`]: undefined },
    at: `ECF.${TOTALS}.MontoExento`,
  },
  {
    rule: 'business.exempt-total-required',
    on: 'ecf-31',
    breaks: { [`${TOTALS}.MontoExento`]: undefined, 'DetallesItems.Item[3].MontoItem': '0.00' },
    at: `ECF.${TOTALS}.MontoExento`,
    keeps: { [`${TOTALS}.MontoExento`]: '0.00', 'DetallesItems.Item[3].MontoItem': '0.00' },
  },
  off('business.exempt-total', 'ecf-31', 'MontoExento', '553.01', '553.00'),
  off('business.base-18', 'ecf-31', 'MontoGravadoI1', '7503.01', '7503.00'),
  off('business.base-18', 'ecf-32', 'MontoGravadoI1', '1002.01', '1002.00'),
  off('business.base-16', 'ecf-31', 'MontoGravadoI2', '1746.99', '1747.00'),
  off('business.base-0', 'ecf-46', 'MontoGravadoI3', '299998.99', '299999.00'),
  {
    rule: 'business.base-18',
    on: 'ecf-32-large',
    breaks: { 'DescuentosORecargos.DescuentoORecargo[1].TipoAjuste': 'R' },
    at: `ECF.${TOTALS}.MontoGravadoI1`,
  },
  {
    rule: 'business.non-billable-total',
    on: 'ecf-31',
    breaks: { [`${TOTALS}.MontoNoFacturable`]: '3.01' },
    at: `ECF.${TOTALS}.MontoNoFacturable`,
    keeps: { [`${TOTALS}.MontoNoFacturable`]: '3.00' },
  },
  {
    rule: 'business.non-billable-total',
    on: 'ecf-31',
    breaks: { 'DetallesItems.Item[3].IndicadorFacturacion': '0' },
    at: `ECF.${TOTALS}.MontoNoFacturable`,
    keeps: { 'DetallesItems.Item[3].IndicadorFacturacion': '0', [`${TOTALS}.MontoNoFacturable`]: '550.00' },
  },
  off('business.itbis-withheld-total', 'ecf-41', 'TotalITBISRetenido', '901.01', '901.00'),
  off('business.isr-withheld-total', 'ecf-47', 'TotalISRRetencion', '24298.99', '24299.00'),
  {
    rule: 'business.isr-withheld-total',
    on: 'ecf-41',
    breaks: { [`${TOTALS}.TotalISRRetencion`]: undefined },
    at: `ECF.${TOTALS}.TotalISRRetencion`,
  },
  {
    rule: 'business.pages-total',
    on: 'ecf-43',
    breaks: { Paginacion: { Pagina: [{ MontoSubtotalPagina: '1000.00' }, { MontoSubtotalPagina: '847.99' }] } },
    at: `ECF.${TOTALS}.MontoTotal`,
    keeps: { Paginacion: { Pagina: [{ MontoSubtotalPagina: '1000.00' }, { MontoSubtotalPagina: '850.00' }] } },
  },
  {
    rule: 'business.text-correction-total',
    on: 'ecf-34',
    breaks: { 'InformacionReferencia.CodigoModificacion': '2' },
    at: `ECF.${TOTALS}.MontoTotal`,
    keeps: { 'InformacionReferencia.CodigoModificacion': '2', [`${TOTALS}.MontoTotal`]: '0.00' },
  },
];
