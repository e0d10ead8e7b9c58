import type { EcfView, Line } from './ecf-view.js';
import { EVERY_DOCUMENT, TOPIC, type Topics } from './topics.js';

const BY_INDICATOR: ReadonlyMap<string | null, Topics> = new Map([
  ['0', TOPIC.nonBillable],
  ['2', TOPIC.reducedRate],
  ['3', TOPIC.zeroRate],
  ['4', TOPIC.exempt],
]);

const BY_TOTAL: ReadonlyMap<string, Topics> = new Map([
  ['MontoGravadoI2', TOPIC.reducedRate],
  ['TotalITBIS2', TOPIC.reducedRate],
  ['MontoGravadoI3', TOPIC.zeroRate],
  ['TotalITBIS3', TOPIC.zeroRate],
  ['MontoExento', TOPIC.exempt],
  ['MontoNoFacturable', TOPIC.nonBillable],
  ['MontoImpuestoAdicional', TOPIC.additionalTaxTotal],
  ['TotalITBISRetenido', TOPIC.withholding],
  ['TotalISRRetencion', TOPIC.withholding],
  ['MontoPeriodo', TOPIC.periodAmount],
  ['ValorPagar', TOPIC.payableAmount],
]);

/** What a line is about, of which the rest is read. */
export function topicsOfLine(line: Omit<Line, 'topics'>): Topics {
  const { node } = line;
  let topics = BY_INDICATOR.get(line.indicator) ?? 0;
  if (line.withholding !== null) topics |= TOPIC.withholding;
  if (line.taxes.length > 0) topics |= TOPIC.additionalTaxes;
  if (node.DescuentoMonto !== undefined || node.TablaSubDescuento !== undefined) topics |= TOPIC.lineDiscounts;
  if (node.RecargoMonto !== undefined || node.TablaSubRecargo !== undefined) topics |= TOPIC.lineDiscounts;
  if (node.OtraMonedaDetalle !== undefined) topics |= TOPIC.currency;
  return topics;
}

/** What an e-CF is about, of which the rest is read. */
export function topicsOfEcf(ecf: Omit<EcfView, 'topics'>): Topics {
  const { idDoc } = ecf;
  let topics = EVERY_DOCUMENT;
  for (const line of ecf.lines) topics |= line.topics;
  for (const name in ecf.totals) topics |= BY_TOTAL.get(name) ?? 0;
  if (ecf.taxes.length > 0) topics |= TOPIC.additionalTaxes;
  if (ecf.adjustments.length > 0) topics |= TOPIC.adjustments;
  if (ecf.otherCurrency !== null) topics |= TOPIC.currency;
  if (ecf.reference !== null) topics |= TOPIC.reference;
  if (ecf.paymentType === '2') topics |= TOPIC.credit;
  if (idDoc?.TablaFormasPago !== undefined) topics |= TOPIC.paymentForms;
  if (idDoc?.FechaDesde !== undefined) topics |= TOPIC.period;
  if (ecf.root?.Paginacion !== undefined) topics |= TOPIC.pages;
  return topics;
}
