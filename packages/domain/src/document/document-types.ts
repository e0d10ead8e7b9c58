import type { EcfType } from '../identifiers.js';

/** The names of the ten types. Source: Formato Comprobante Fiscal Electrónico (e-CF) v1.0, October 2025. */
export const DOCUMENT_TYPES: Readonly<Record<EcfType, string>> = {
  '31': 'Factura de Crédito Fiscal Electrónica',
  '32': 'Factura de Consumo Electrónica',
  '33': 'Nota de Débito Electrónica',
  '34': 'Nota de Crédito Electrónica',
  '41': 'Comprobante de Compras Electrónico',
  '43': 'Comprobante para Gastos Menores Electrónico',
  '44': 'Comprobante para Regímenes Especiales Electrónico',
  '45': 'Comprobante Gubernamental Electrónico',
  '46': 'Comprobante de Exportaciones Electrónico',
  '47': 'Comprobante para Pagos al Exterior Electrónico',
};
