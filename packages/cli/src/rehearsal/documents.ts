import { type EcfType, formatDocumentDate, toCalendarDate } from '@ecf/domain';

/** A document of the rehearsal: its name in the table, its type, and the JSON that is submitted. */
export interface RehearsedDocument {
  readonly name: string;
  readonly type: EcfType;
  /** A note on the first document of type 31. */
  readonly isNote: boolean;
  /** `modified` is the document that a note modifies; null for the others. Amounts are constants, so their sums are right. */
  build(issuer: Issuer, now: Date, modified: ModifiedDocument | null): object;
}

export interface Issuer {
  readonly rnc: string;
  readonly name: string;
}

/** The number and the date of issue, `DD-MM-YYYY`, of a document that a note modifies. */
export interface ModifiedDocument {
  readonly encf: string;
  readonly date: string;
}

/** The name of the document that is delivered to its own issuer. */
export const TO_ITSELF = '31 to itself';

/**
 * The authority's own taxpayer for tests. Its certification sets name it as buyer, and its directory in TesteCF has a receiver
 * for it.
 */
const COUNTERPART = { RNCComprador: '131880681', RazonSocialComprador: 'DOCUMENTOS ELECTRONICOS DE 03' };

/** The document's own parts; header and issuer are the same for all. */
interface Parts {
  readonly header: object;
  readonly buyer?: object;
  readonly afterBuyer?: object;
  readonly totals: object;
  readonly afterTotals?: object;
  readonly items: readonly object[];
  readonly reference?: object;
}

/** A sale at 18 %: quantity 1, price and ITBIS as they are written. */
function taxed(base: string, itbis: string, total: string) {
  return {
    MontoGravadoTotal: base,
    MontoGravadoI1: base,
    ITBIS1: '18',
    TotalITBIS: itbis,
    TotalITBIS1: itbis,
    MontoTotal: total,
  };
}

function item(name: string, indicator: '1' | '3' | '4', kind: 'good' | 'service', amount: string, more: object = {}) {
  return {
    NumeroLinea: '1',
    IndicadorFacturacion: indicator,
    ...more,
    NombreItem: name,
    IndicadorBienoServicio: kind === 'good' ? '1' : '2',
    CantidadItem: '1.00',
    UnidadMedida: '43',
    PrecioUnitarioItem: `${amount}00`,
    MontoItem: amount,
  };
}

const CASH_SALE = { IndicadorMontoGravado: '0', TipoIngresos: '01', TipoPago: '1' };
const WITHHELD = { IndicadorAgenteRetencionoPercepcion: '1' };

function document(
  name: string,
  type: EcfType,
  parts: Parts | ((issuer: Issuer, modified: ModifiedDocument | null) => Parts),
): RehearsedDocument {
  return {
    name,
    type,
    isNote: type === '33' || type === '34',
    build(issuer, now, modified) {
      const { header, buyer, afterBuyer, totals, afterTotals, items, reference } =
        typeof parts === 'function' ? parts(issuer, modified) : parts;
      return {
        ECF: {
          Encabezado: {
            Version: '1.0',
            IdDoc: { TipoeCF: type, ...header },
            Emisor: {
              RNCEmisor: issuer.rnc,
              RazonSocialEmisor: issuer.name,
              DireccionEmisor: 'Santo Domingo, República Dominicana',
              FechaEmision: formatDocumentDate(toCalendarDate(now)),
            },
            ...(buyer === undefined ? {} : { Comprador: buyer }),
            ...afterBuyer,
            Totales: totals,
            ...afterTotals,
          },
          DetallesItems: { Item: items },
          ...(reference === undefined ? {} : { InformacionReferencia: reference }),
        },
      };
    },
  };
}

function note(name: string, type: '33' | '34', header: object, totals: object, line: object, reason: string) {
  return document(name, type, (_issuer, modified) => ({
    header: { ...header, ...CASH_SALE },
    buyer: COUNTERPART,
    totals,
    items: [line],
    reference: {
      NCFModificado: modified?.encf ?? '',
      FechaNCFModificado: modified?.date ?? '',
      CodigoModificacion: '3',
      RazonModificacion: reason,
    },
  }));
}

const CHAIR = item('Silla de oficina', '1', 'good', '8000.00');

/** The documents. Notes are submitted after the others, because they modify the first one. */
export const DOCUMENTS: readonly RehearsedDocument[] = [
  document('31', '31', {
    header: CASH_SALE,
    buyer: COUNTERPART,
    totals: taxed('8000.00', '1440.00', '9440.00'),
    items: [CHAIR],
  }),
  document(TO_ITSELF, '31', (issuer) => ({
    header: CASH_SALE,
    buyer: { RNCComprador: issuer.rnc, RazonSocialComprador: issuer.name },
    totals: taxed('8000.00', '1440.00', '9440.00'),
    items: [CHAIR],
  })),
  document('32 full', '32', {
    header: CASH_SALE,
    buyer: COUNTERPART,
    totals: taxed('250000.00', '45000.00', '295000.00'),
    items: [item('Planta eléctrica 20 kW', '1', 'good', '250000.00')],
  }),
  document('41', '41', {
    header: { IndicadorMontoGravado: '0', TipoPago: '1' },
    buyer: COUNTERPART,
    totals: {
      ...taxed('5000.00', '900.00', '5900.00'),
      TotalITBISRetenido: '900.00',
      TotalISRRetencion: '500.00',
    },
    items: [
      item('Servicio de pintura', '1', 'service', '5000.00', {
        Retencion: { ...WITHHELD, MontoITBISRetenido: '900.00', MontoISRRetenido: '500.00' },
      }),
    ],
  }),
  document('43', '43', {
    header: { TipoPago: '1' },
    totals: { MontoExento: '850.00', MontoTotal: '850.00' },
    items: [item('Transporte de mensajería', '4', 'service', '850.00')],
  }),
  document('44', '44', {
    header: { TipoIngresos: '01', TipoPago: '1' },
    buyer: COUNTERPART,
    totals: { MontoExento: '20000.00', MontoTotal: '20000.00' },
    items: [item('Alquiler de equipo', '4', 'service', '20000.00')],
  }),
  document('45', '45', {
    header: CASH_SALE,
    buyer: COUNTERPART,
    totals: taxed('60000.00', '10800.00', '70800.00'),
    items: [item('Escritorios', '1', 'good', '60000.00')],
  }),
  document('46', '46', {
    header: { TipoIngresos: '01', TipoPago: '1' },
    buyer: COUNTERPART,
    totals: {
      MontoGravadoTotal: '117500.00',
      MontoGravadoI3: '117500.00',
      ITBIS3: '0',
      TotalITBIS: '0.00',
      TotalITBIS3: '0.00',
      MontoTotal: '117500.00',
    },
    items: [item('Cacao en grano', '3', 'good', '117500.00')],
  }),
  document('47', '47', {
    header: { TipoPago: '1' },
    buyer: { IdentificadorExtranjero: '533445888', RazonSocialComprador: 'Imaginary Software Ltd' },
    totals: { MontoExento: '90000.00', MontoTotal: '90000.00', TotalISRRetencion: '24300.00' },
    items: [
      item('Licencia anual de programa', '4', 'service', '90000.00', {
        Retencion: { ...WITHHELD, MontoISRRetenido: '24300.00' },
      }),
    ],
  }),
  note(
    '33',
    '33',
    {},
    taxed('600.00', '108.00', '708.00'),
    item('Diferencia de precio', '1', 'good', '600.00'),
    'Precio facturado por debajo del acordado',
  ),
  note(
    '34',
    '34',
    { IndicadorNotaCredito: '0' },
    taxed('1000.00', '180.00', '1180.00'),
    item('Descuento posterior', '1', 'good', '1000.00'),
    'Descuento concedido después de la venta',
  ),
  document('32 summary', '32', {
    header: CASH_SALE,
    buyer: { RazonSocialComprador: 'Consumidor final' },
    totals: taxed('1000.00', '180.00', '1180.00'),
    items: [item('Lámpara de mesa', '1', 'good', '1000.00')],
  }),
];

/** The documents for these types. Notes modify a 31, so they add one; only type 31 itself adds the one to the issuer. */
export function documentsFor(types: ReadonlySet<EcfType>): RehearsedDocument[] {
  const needs31 = types.has('33') || types.has('34');
  return DOCUMENTS.filter(({ name, type }) => types.has(type) || (needs31 && name === '31'));
}
