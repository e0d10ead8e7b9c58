import { type DocumentNode, type DocumentValue, parseDocumentDate, textOf } from '@ecf/domain';
import { type Draft, type DraftLine, emptyDraft, emptyLine, type Indicator, issuerOf, partsOf } from './draft.js';

/** Elements of an invoice that a credit note for it does not take over, because the form gives them or they concern its payment. */
const NOT_TAKEN = ['IdDoc', 'Emisor', 'Comprador', 'Totales', 'Version'];

/** Elements of a line that the form shows. */
const SHOWN = [
  'NumeroLinea',
  'IndicadorFacturacion',
  'NombreItem',
  'IndicadorBienoServicio',
  'CantidadItem',
  'PrecioUnitarioItem',
  'DescuentoMonto',
  'TablaSubDescuento',
  'MontoItem',
];

/** Elements of a line that change its amount or belong to totals that the form does not compute. */
const BEYOND_THE_FORM = ['Retencion', 'RecargoMonto', 'TablaSubRecargo', 'TablaImpuestoAdicional', 'OtraMonedaDetalle'];

/** Whether the form shows everything in an invoice that a credit note for it needs. */
export function fitsTheForm(invoice: DocumentNode): boolean {
  const { ECF, header, items } = partsOf(invoice);
  const groups = Object.keys(header).filter((name) => !NOT_TAKEN.includes(name));
  return (
    groups.length === 0 &&
    ECF.DescuentosORecargos === undefined &&
    items.every((item) => BEYOND_THE_FORM.every((name) => item[name] === undefined))
  );
}

/** A credit note for the whole of an invoice, as the form shows it. */
export function creditNoteFor(invoice: DocumentNode): Draft {
  const { idDoc, buyer, issuer, items } = partsOf(invoice);
  return {
    ...emptyDraft(),
    type: '34',
    issuer: issuerOf(invoice),
    buyer,
    taxIncluded: textOf(idDoc, 'IndicadorMontoGravado') === '1',
    income: textOf(idDoc, 'TipoIngresos') ?? '01',
    lines: items.map(lineOf),
    reference: {
      encf: textOf(idDoc, 'eNCF') ?? '',
      date: parseDocumentDate(textOf(issuer, 'FechaEmision') ?? '') ?? '',
      code: '1',
      reason: '',
    },
  };
}

function lineOf(item: DocumentNode): DraftLine {
  const others = Object.fromEntries(Object.entries(item).filter(([name]) => !SHOWN.includes(name)));
  const text = (name: string) => textOf(item, name) ?? '';
  return {
    ...emptyLine(),
    name: text('NombreItem'),
    kind: text('IndicadorBienoServicio') === '2' ? '2' : '1',
    quantity: text('CantidadItem'),
    price: text('PrecioUnitarioItem'),
    discount: text('DescuentoMonto'),
    indicator: text('IndicadorFacturacion') as Indicator,
    others,
  };
}

/** The credit note for the whole of an invoice that the form does not fit: its other groups are those of the invoice. */
export function creditDocument(invoice: DocumentNode, note: DocumentNode): DocumentNode {
  const given = partsOf(invoice);
  const made = partsOf(note);
  const { Paginacion: _, Subtotales: __, FechaHoraFirma: ___, ...ECF } = given.ECF;
  const header = { ...given.header, IdDoc: made.idDoc, Emisor: made.issuer } as Record<string, DocumentValue>;
  return {
    ECF: { ...ECF, Encabezado: header, InformacionReferencia: made.ECF.InformacionReferencia as DocumentValue },
  };
}
