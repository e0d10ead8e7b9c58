/** A column: an element of the document, or the caller's own `reference`. */
export interface Column {
  readonly name: string;
  /** Where its value belongs; `null` for `reference`, which also groups the rows of an invoice. */
  readonly group: 'IdDoc' | 'Emisor' | 'Comprador' | 'InformacionReferencia' | 'Item' | null;
  /** How its cells are written; text by default. */
  readonly kind?: 'number' | 'date' | 'digits';
  /** Whether a file without it is refused. */
  readonly required?: true;
  /** The value of an empty cell. */
  readonly default?: string;
}

/** The columns of a file, in the order of the template. Described for users in docs/batches.md. */
export const COLUMNS: readonly Column[] = [
  { name: 'reference', group: null, required: true },
  { name: 'TipoeCF', group: 'IdDoc', required: true },
  { name: 'eNCF', group: 'IdDoc' },
  { name: 'FechaVencimientoSecuencia', group: 'IdDoc', kind: 'date' },
  { name: 'FechaEmision', group: 'Emisor', kind: 'date', required: true },
  { name: 'RNCEmisor', group: 'Emisor', kind: 'digits', required: true },
  { name: 'RazonSocialEmisor', group: 'Emisor', required: true },
  { name: 'DireccionEmisor', group: 'Emisor', required: true },
  { name: 'RNCComprador', group: 'Comprador', kind: 'digits' },
  { name: 'RazonSocialComprador', group: 'Comprador' },
  { name: 'TipoIngresos', group: 'IdDoc', default: '01' },
  { name: 'TipoPago', group: 'IdDoc', default: '1' },
  { name: 'FechaLimitePago', group: 'IdDoc', kind: 'date' },
  { name: 'IndicadorMontoGravado', group: 'IdDoc', default: '0' },
  { name: 'NombreItem', group: 'Item', required: true },
  { name: 'IndicadorBienoServicio', group: 'Item', default: '1' },
  { name: 'IndicadorFacturacion', group: 'Item', required: true },
  { name: 'CantidadItem', group: 'Item', kind: 'number', required: true },
  { name: 'UnidadMedida', group: 'Item' },
  { name: 'PrecioUnitarioItem', group: 'Item', kind: 'number', required: true },
  { name: 'DescuentoMonto', group: 'Item', kind: 'number' },
  { name: 'NCFModificado', group: 'InformacionReferencia' },
  { name: 'FechaNCFModificado', group: 'InformacionReferencia', kind: 'date' },
  { name: 'CodigoModificacion', group: 'InformacionReferencia' },
  { name: 'RazonModificacion', group: 'InformacionReferencia' },
];

/** The column that a file of refused invoices has in addition. A file with it can be read again: its cells are ignored. */
export const ERROR_COLUMN = 'error';

/** The types of e-CF that a file can hold. */
export const TYPES: readonly string[] = ['31', '32', '33', '34'];
