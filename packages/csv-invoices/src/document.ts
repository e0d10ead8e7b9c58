import { CREDIT_NOTE_DAYS, type DocumentNode, daysBetween, parseDocumentDate, withTotals } from '@ecf/domain';
import { COLUMNS, type Column } from './columns.js';

/** Values by the names of the columns. */
export type Values = Readonly<Record<string, string | undefined>>;

/** The e-CF of an invoice, with its totals. */
export function documentOf(invoice: Values, lines: readonly Values[]): DocumentNode {
  const items = lines.map((line, index) => itemOf(line, index + 1));
  const taxed = lines.some(({ IndicadorFacturacion }) => ['1', '2', '3'].includes(IndicadorFacturacion ?? ''));
  const { IndicadorMontoGravado, TipoIngresos, ...id } = elementsOf('IdDoc', invoice);
  const buyer = elementsOf('Comprador', invoice);
  const reference = elementsOf('InformacionReferencia', invoice);
  return withTotals({
    ECF: {
      Encabezado: {
        Version: '1.0',
        IdDoc: {
          ...id,
          // Spreadsheets drop the zero that codes begin with.
          TipoIngresos: (TipoIngresos as string).padStart(2, '0'),
          ...(taxed && { IndicadorMontoGravado: IndicadorMontoGravado as string }),
          ...(invoice.TipoeCF === '34' && { IndicadorNotaCredito: creditNoteIndicator(invoice) }),
        },
        Emisor: elementsOf('Emisor', invoice),
        ...(Object.keys(buyer).length > 0 && { Comprador: buyer }),
      },
      DetallesItems: { Item: items },
      ...(Object.keys(reference).length > 0 && { InformacionReferencia: reference }),
    },
  });
}

function itemOf(line: Values, number: number): DocumentNode {
  const item = elementsOf('Item', line);
  const { DescuentoMonto: discount } = item;
  return {
    NumeroLinea: String(number),
    ...item,
    ...(discount !== undefined && {
      TablaSubDescuento: { SubDescuento: [{ TipoSubDescuento: '$', MontoSubDescuento: discount }] },
    }),
  };
}

function elementsOf(group: Column['group'], values: Values): DocumentNode {
  const elements: Record<string, string> = {};
  for (const { name, group: belongs, default: standard } of COLUMNS) {
    const value = values[name] ?? standard;
    if (belongs === group && value !== undefined) elements[name] = value;
  }
  return elements;
}

/** 1 for a credit note that is later than the days of the rule after the document that it modifies, else 0. */
function creditNoteIndicator({ FechaNCFModificado, FechaEmision }: Values): string {
  const modified = parseDocumentDate(FechaNCFModificado ?? '');
  const issued = parseDocumentDate(FechaEmision ?? '');
  return modified && issued && daysBetween(modified, issued) > CREDIT_NOTE_DAYS ? '1' : '0';
}
