import type { components } from './generated/openapi.js';

type Schemas = components['schemas'];

/** An e-CF in JSON, of one of the ten types: what an `InvoiceDocument` has under `ECF`. */
export type Ecf = Schemas['Ecf'];
/** Factura de Crédito Fiscal Electrónica. */
export type Ecf31 = Schemas['Ecf31'];
/** Factura de Consumo Electrónica. */
export type Ecf32 = Schemas['Ecf32'];
/** Nota de Débito Electrónica. */
export type Ecf33 = Schemas['Ecf33'];
/** Nota de Crédito Electrónica. */
export type Ecf34 = Schemas['Ecf34'];
/** Comprobante Electrónico de Compras. */
export type Ecf41 = Schemas['Ecf41'];
/** Comprobante Electrónico para Gastos Menores. */
export type Ecf43 = Schemas['Ecf43'];
/** Comprobante Electrónico para Regímenes Especiales. */
export type Ecf44 = Schemas['Ecf44'];
/** Comprobante Electrónico Gubernamental. */
export type Ecf45 = Schemas['Ecf45'];
/** Comprobante Electrónico para Exportaciones. */
export type Ecf46 = Schemas['Ecf46'];
/** Comprobante Electrónico para Pagos al Exterior. */
export type Ecf47 = Schemas['Ecf47'];

// TypeScript does not narrow a union by a nested literal such as `TipoeCF`.
export const isEcf31 = isOfType<Ecf31>('31');
export const isEcf32 = isOfType<Ecf32>('32');
export const isEcf33 = isOfType<Ecf33>('33');
export const isEcf34 = isOfType<Ecf34>('34');
export const isEcf41 = isOfType<Ecf41>('41');
export const isEcf43 = isOfType<Ecf43>('43');
export const isEcf44 = isOfType<Ecf44>('44');
export const isEcf45 = isOfType<Ecf45>('45');
export const isEcf46 = isOfType<Ecf46>('46');
export const isEcf47 = isOfType<Ecf47>('47');

function isOfType<E extends Ecf>(type: string) {
  return (ecf: Ecf): ecf is E => ecf.Encabezado.IdDoc.TipoeCF === type;
}
