import { type DocumentNode, type DocumentValue, groupOf, groupsOf, textOf } from './document-tree.js';

const ID_DOC = ['TipoeCF', 'eNCF', 'TipoIngresos', 'TipoPago'];
const ISSUER = ['RNCEmisor', 'RazonSocialEmisor', 'FechaEmision'];
const BUYER = ['RNCComprador', 'IdentificadorExtranjero', 'RazonSocialComprador'];
const TAXED = ['MontoGravadoTotal', 'MontoGravadoI1', 'MontoGravadoI2', 'MontoGravadoI3', 'MontoExento'];
const TAX = ['TotalITBIS', 'TotalITBIS1', 'TotalITBIS2', 'TotalITBIS3', 'MontoImpuestoAdicional'];
const ADDITIONAL_TAX = [
  'MontoImpuestoSelectivoConsumoEspecifico',
  'MontoImpuestoSelectivoConsumoAdvalorem',
  'OtrosImpuestosAdicionales',
];
const TOTAL = ['MontoTotal', 'MontoNoFacturable', 'MontoPeriodo'];

/**
 * The consumer summary (Resumen de Factura de Consumo, RFCE) of a signed type 32, as a tree with root `RFCE`.
 * Everything is copied as written; the one change is a second decimal where an amount has one, which the summary's
 * format does not know. `securityCode` is the one of the full document: the summary's own signature never gives it.
 * Source: Formato RFCE v1.0 pp.4-12.
 */
export function deriveRfce(ecf: DocumentNode, securityCode: string): DocumentNode {
  const header = groupOf(groupOf(ecf, 'ECF'), 'Encabezado');
  const totals = groupOf(header, 'Totales');
  const encabezado: DocumentNode = { Version: '1.0' };
  put(encabezado, 'IdDoc', {
    ...copy(groupOf(header, 'IdDoc'), ID_DOC),
    ...payments(groupOf(header, 'IdDoc')),
  });
  put(encabezado, 'Emisor', copy(groupOf(header, 'Emisor'), ISSUER));
  put(encabezado, 'Comprador', copy(groupOf(header, 'Comprador'), BUYER));
  put(encabezado, 'Totales', {
    ...copyAmounts(totals, TAXED),
    ...copyAmounts(totals, TAX),
    ...additionalTaxes(totals),
    ...copyAmounts(totals, TOTAL),
  });
  encabezado.CodigoSeguridadeCF = securityCode;
  return { RFCE: { Encabezado: encabezado } };
}

function payments(idDoc: DocumentNode | null): DocumentNode {
  const forms = groupsOf(groupOf(idDoc, 'TablaFormasPago'), 'FormaDePago')
    .map((form) => ({ ...copy(form, ['FormaPago']), ...copyAmounts(form, ['MontoPago']) }))
    .filter(hasContent);
  return forms.length > 0 ? { TablaFormasPago: { FormaDePago: forms } } : {};
}

function additionalTaxes(totals: DocumentNode | null): DocumentNode {
  const taxes = groupsOf(groupOf(totals, 'ImpuestosAdicionales'), 'ImpuestoAdicional')
    .map((tax) => ({ ...copy(tax, ['TipoImpuesto']), ...copyAmounts(tax, ADDITIONAL_TAX) }))
    .filter(hasContent);
  return taxes.length > 0 ? { ImpuestosAdicionales: { ImpuestoAdicional: taxes } } : {};
}

function copy(from: DocumentNode | null, names: readonly string[]): DocumentNode {
  const result: DocumentNode = {};
  for (const name of names) {
    const value = textOf(from, name);
    if (value !== null) result[name] = value;
  }
  return result;
}

function copyAmounts(from: DocumentNode | null, names: readonly string[]): DocumentNode {
  const result = copy(from, names);
  for (const [name, value] of Object.entries(result)) result[name] = twoDecimalsOrNone(value);
  return result;
}

function twoDecimalsOrNone(value: DocumentValue): DocumentValue {
  return typeof value === 'string' && /\.[0-9]\s*$/.test(value) ? `${value.trimEnd()}0` : value;
}

function put(into: DocumentNode, name: string, group: DocumentNode): void {
  if (hasContent(group)) into[name] = group;
}

function hasContent(group: DocumentNode): boolean {
  return Object.keys(group).length > 0;
}
