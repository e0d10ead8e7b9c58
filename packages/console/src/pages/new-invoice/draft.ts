import {
  CREDIT_NOTE_DAYS,
  Decimal,
  type DocumentNode,
  daysBetween,
  formatDocumentDate,
  groupOf,
  groupsOf,
  textOf,
  toCalendarDate,
  withTotals,
} from '@ecf/domain';

/** The types that the form makes. */
export type DraftType = '31' | '32' | '34';

/** IndicadorFacturacion: 0 not billable, 1 ITBIS 18 %, 2 ITBIS 16 %, 3 ITBIS 0 %, 4 exempt. */
export type Indicator = '0' | '1' | '2' | '3' | '4';

/** A line as it is typed. */
export interface DraftLine {
  /** Tells the lines of a form apart. */
  readonly id: number;
  readonly name: string;
  readonly quantity: string;
  readonly price: string;
  readonly discount: string;
  readonly indicator: Indicator;
  /** IndicadorBienoServicio: 1 goods, 2 service. */
  readonly kind: '1' | '2';
  /** Elements of a copied line that the form does not show. */
  readonly others: DocumentNode;
}

/** The document that a credit note modifies. */
export interface Reference {
  readonly encf: string;
  /** YYYY-MM-DD */
  readonly date: string;
  /** CodigoModificacion. */
  readonly code: string;
  readonly reason: string;
}

/** An invoice or credit note as it is typed: texts, days as YYYY-MM-DD. */
export interface Draft {
  readonly type: DraftType;
  /** Used only where no range of numbers is registered. */
  readonly encf: string;
  readonly expires: string;
  readonly date: string;
  /** The group Emisor without number, name and date; the form shows its address. */
  readonly issuer: DocumentNode;
  readonly buyer: DocumentNode;
  readonly taxIncluded: boolean;
  /** TipoIngresos. */
  readonly income: string;
  /** TipoPago. */
  readonly payment: string;
  readonly due: string;
  /** FormaPago. */
  readonly means: string;
  readonly lines: readonly DraftLine[];
  readonly reference: Reference;
  /** The caller's own reference. */
  readonly own: string;
}

let lastLine = 0;

export function emptyLine(): DraftLine {
  lastLine += 1;
  return { id: lastLine, name: '', kind: '1', quantity: '1', price: '', discount: '', indicator: '1', others: {} };
}

export function emptyDraft(): Draft {
  return {
    type: '31',
    encf: '',
    expires: '',
    date: toCalendarDate(new Date()),
    issuer: {},
    buyer: {},
    taxIncluded: false,
    income: '01',
    payment: '1',
    due: '',
    means: '1',
    lines: [emptyLine()],
    reference: { encf: '', date: '', code: '3', reason: '' },
    own: '',
  };
}

/** A number and its expiry (YYYY-MM-DD); empty texts if the gateway gives them. */
export interface StatedNumber {
  readonly encf: string;
  readonly expires: string;
}

/** The document in JSON that a draft describes. Empty texts are left out, so that the check names them as missing. */
export function documentOf(
  draft: Draft,
  issuer: { readonly rnc: string; readonly name: string },
  number: StatedNumber,
): DocumentNode {
  const { type, date, reference } = draft;
  const emisor = {
    RNCEmisor: issuer.rnc,
    RazonSocialEmisor: issuer.name,
    ...draft.issuer,
    FechaEmision: written(date),
  };
  const totalled = withTotals({
    ECF: {
      Encabezado: { Version: '1.0', IdDoc: idDocOf(draft, number), Emisor: filled(emisor), Comprador: buyerOf(draft) },
      DetallesItems: { Item: draft.lines.map((line, index) => itemOf(line, index + 1, correctsText(draft))) },
      ...(type === '34' && { InformacionReferencia: referenceOf(reference) }),
    },
  });
  return draft.payment === '1' && type !== '34' ? paidBy(draft.means, totalled) : totalled;
}

/** The document paid in one way. */
function paidBy(means: string, document: DocumentNode): DocumentNode {
  const { ECF, header, totals } = partsOf(document);
  const total = textOf(totals, 'MontoTotal') ?? '0.00';
  const IdDoc = {
    ...groupOf(header, 'IdDoc'),
    TablaFormasPago: { FormaDePago: [{ FormaPago: means, MontoPago: total }] },
  };
  return { ECF: { ...ECF, Encabezado: { ...header, IdDoc } } };
}

/** The groups of a document that the pages show; empty where it has none. */
export function partsOf(document: DocumentNode) {
  const ECF = groupOf(document, 'ECF') ?? {};
  const header = groupOf(ECF, 'Encabezado') ?? {};
  return {
    ECF,
    header,
    idDoc: groupOf(header, 'IdDoc') ?? {},
    issuer: groupOf(header, 'Emisor') ?? {},
    buyer: groupOf(header, 'Comprador') ?? {},
    totals: groupOf(header, 'Totales') ?? {},
    items: groupsOf(groupOf(ECF, 'DetallesItems'), 'Item'),
  };
}

/** A credit note whose code is 2 has no amounts to bill. Source: Formato e-CF v1.0 p.44. */
const correctsText = ({ type, reference }: Draft) => type === '34' && reference.code === '2';

function idDocOf(draft: Draft, { encf, expires }: StatedNumber): DocumentNode {
  const { type, payment } = draft;
  const hasItbis = draft.lines.some(({ indicator }) => indicator === '1' || indicator === '2');
  return filled({
    TipoeCF: type,
    eNCF: encf.trim().toUpperCase(),
    FechaVencimientoSecuencia: type === '31' ? written(expires) : '',
    IndicadorNotaCredito: type !== '34' ? '' : isLateNote(draft) ? '1' : '0',
    IndicadorMontoGravado: !hasItbis || correctsText(draft) ? '' : draft.taxIncluded ? '1' : '0',
    TipoIngresos: draft.income,
    TipoPago: payment,
    FechaLimitePago: payment === '2' ? written(draft.due) : '',
  });
}

function buyerOf({ type, buyer }: Draft): DocumentNode {
  const given = filled(buyer);
  return type === '32' ? { RazonSocialComprador: 'Consumidor final', ...given } : given;
}

const referenceOf = ({ encf, date, code, reason }: Reference) =>
  filled({
    NCFModificado: encf.trim().toUpperCase(),
    FechaNCFModificado: written(date),
    CodigoModificacion: code,
    RazonModificacion: reason,
  });

function itemOf(line: DraftLine, number: number, textOnly: boolean): DocumentNode {
  const discount = line.discount.trim() === '' ? '' : amount(line.discount, 2);
  return filled({
    NumeroLinea: String(number),
    ...line.others,
    IndicadorFacturacion: textOnly ? '0' : line.indicator,
    NombreItem: line.name,
    IndicadorBienoServicio: line.kind,
    CantidadItem: amount(line.quantity, 2),
    PrecioUnitarioItem: amount(line.price, 4),
    DescuentoMonto: discount,
    TablaSubDescuento: discount && { SubDescuento: [{ TipoSubDescuento: '$', MontoSubDescuento: discount }] },
  });
}

/** A typed number without its separators of thousands: `1,234.50`. Other text stays as it is: `1,5` may mean 1.5. */
const plainNumber = (text: string) =>
  /^\d{1,3}(?:,\d{3})+(?:\.\d*)?$/.test(text.trim()) ? text.trim().replaceAll(',', '') : text.trim();

/** A typed number with this many decimals. Text that is not a number, or has more decimals, stays: the check names it. */
function amount(text: string, decimals: number): string {
  const plain = plainNumber(text);
  const value = Decimal.parse(plain);
  return value === null || !value.equals(value.round(decimals)) ? plain : value.toFixed(decimals);
}

const written = (day: string) => (day === '' ? '' : formatDocumentDate(day));

const filled = (group: DocumentNode): DocumentNode =>
  Object.fromEntries(Object.entries(group).filter(([, value]) => value !== ''));

/** Whether the note is so late that it returns no ITBIS. */
export function isLateNote({ date, reference }: Draft): boolean {
  return reference.date !== '' && daysBetween(reference.date, date) > CREDIT_NOTE_DAYS;
}

/** Elements of Emisor that belong to one invoice or that the form gives. */
const OF_ONE_INVOICE = [
  'RNCEmisor',
  'RazonSocialEmisor',
  'FechaEmision',
  'NumeroFacturaInterna',
  'NumeroPedidoInterno',
  'CodigoVendedor',
  'ZonaVenta',
  'RutaVenta',
  'InformacionAdicionalEmisor',
];

/** Address, telephone and the like of the issuer of a document, for another one. */
export function issuerOf(document: DocumentNode): DocumentNode {
  const given = Object.entries(partsOf(document).issuer);
  return Object.fromEntries(given.filter(([name]) => !OF_ONE_INVOICE.includes(name)));
}
