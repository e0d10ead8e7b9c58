import {
  CONTINGENCY_LEGEND,
  confirmationAddress,
  DEFERRED_LEGEND,
  Decimal,
  DOCUMENT_TYPES,
  type DocumentNode,
  type Environment,
  groupOf,
  groupsOf,
  ITBIS_RATES,
  integerOf,
  isEcfType,
  textOf,
} from '@ecf/domain';
import { PLACES } from './places.js';
import { MODIFICATIONS, PAYMENT_CONDITIONS, PAYMENT_FORMS, TRANSPORT_MODES, taxName, unitName } from './words.js';

/** A label and its value. */
export type Labelled = readonly [label: string, value: string];

/** One line of the table; `amount` is MontoItem (`1234.50`), of which a page's subtotal is the sum. */
export interface PrintedLine {
  readonly cells: readonly string[];
  /** What is printed below the name: description, codes, references, additional taxes. */
  readonly notes: readonly string[];
  readonly exempt: boolean;
  readonly amount: string;
}

/** Everything that a printed form shows, as texts in Spanish; the template only places them. */
export interface PrintedForm {
  readonly title: string;
  readonly type: string;
  readonly encf: string;
  /** What is printed below the number: expiry, the modified document. */
  readonly heading: readonly Labelled[];
  readonly issuer: { readonly name: string; readonly details: readonly string[] };
  readonly buyer: { readonly name: string; readonly details: readonly string[] } | null;
  /** Dates, payment, orders. */
  readonly facts: readonly Labelled[];
  /** `width` is the share of a column where columns have fixed widths: the characters of its longest word, and its margin. */
  readonly columns: readonly { readonly title: string; readonly kind: ColumnKind; readonly width: number }[];
  readonly lines: readonly PrintedLine[];
  /** True if an amount or a unit is longer than usual, so that columns need fixed widths. */
  readonly wide: boolean;
  readonly totals: readonly {
    readonly label: string;
    readonly value: string;
    readonly foreign: string;
    readonly strong: boolean;
  }[];
  /** The currency of the second column of totals; null if the document has none but pesos. */
  readonly currency: string | null;
  /** Subtotals that the issuer declared, payments, shipping and other information, each with its heading. */
  readonly sections: readonly { readonly title: string; readonly rows: readonly Labelled[] }[];
  readonly legends: readonly string[];
  readonly address: string;
  readonly securityCode: string;
  readonly signedAt: string;
}

type ColumnKind = 'quantity' | 'description' | 'unit' | 'amount';

const TEST = 'Documento de prueba emitido en el ambiente TesteCF, sin validez fiscal.';

/**
 * What the printed form of a signed e-CF shows. `tree` has the root `ECF`; amounts are those of the document, only the ITBIS of a
 * line is computed, because a document does not write it. Throws RangeError if the tree is not an e-CF with its required elements.
 * Source: Representación Impresa (modelos ilustrativos); Informe Técnico e-CF v1.0, sections 31 to 37.
 */
export function printedForm(
  tree: DocumentNode,
  { env, securityCode, contingency }: { env: Environment; securityCode: string; contingency: boolean },
): PrintedForm {
  const ecf = groupOf(tree, 'ECF');
  const header = groupOf(ecf, 'Encabezado');
  const [id, issuer, buyer] = [groupOf(header, 'IdDoc'), groupOf(header, 'Emisor'), groupOf(header, 'Comprador')];
  const type = integerOf(id, 'TipoeCF');
  if (!isEcfType(type)) throw new RangeError('Only an e-CF (root ECF) has a printed form.');
  const currency = textOf(groupOf(header, 'OtraMoneda'), 'TipoMoneda');
  const encf = textOf(id, 'eNCF') ?? '';
  const name = textOf(issuer, 'RazonSocialEmisor') ?? '';
  return {
    title: `${DOCUMENT_TYPES[type]} ${encf}`,
    type: DOCUMENT_TYPES[type],
    encf,
    heading: [
      ...given('Fecha de vencimiento', textOf(id, 'FechaVencimientoSecuencia')),
      ...modified(groupOf(ecf, 'InformacionReferencia')),
    ],
    issuer: { name: textOf(issuer, 'NombreComercial') ?? name, details: issuerDetails(issuer, name) },
    buyer: buyer && printedBuyer(buyer),
    facts: facts(header),
    ...table(groupsOf(groupOf(ecf, 'DetallesItems'), 'Item'), header, currency),
    totals: totals(header, groupsOf(groupOf(ecf, 'DescuentosORecargos'), 'DescuentoORecargo')),
    currency,
    sections: sections(ecf, header),
    legends: [
      ...(textOf(id, 'IndicadorEnvioDiferido') === '1' ? [DEFERRED_LEGEND] : []),
      ...(contingency ? [CONTINGENCY_LEGEND] : []),
      ...(env === 'TesteCF' ? [TEST] : []),
    ],
    address: confirmationAddress({ env, tree, securityCode }),
    securityCode,
    signedAt: textOf(ecf, 'FechaHoraFirma') ?? '',
  };
}

function modified(reference: DocumentNode | null): Labelled[] {
  return [
    ...given('NCF modificado', textOf(reference, 'NCFModificado')),
    ...given('Fecha del NCF modificado', textOf(reference, 'FechaNCFModificado')),
    ...given('RNC del emisor modificado', textOf(reference, 'RNCOtroContribuyente')),
    ...given('', MODIFICATIONS[integerOf(reference, 'CodigoModificacion') ?? ''] ?? null),
    ...given('Razón', textOf(reference, 'RazonModificacion')),
  ];
}

function issuerDetails(issuer: DocumentNode | null, name: string): string[] {
  const phones = telephones(issuer);
  return texts([
    name === (textOf(issuer, 'NombreComercial') ?? name) ? null : name,
    labelled('RNC', textOf(issuer, 'RNCEmisor')),
    labelled('Sucursal', textOf(issuer, 'Sucursal')),
    textOf(issuer, 'DireccionEmisor'),
    place(textOf(issuer, 'Municipio'), textOf(issuer, 'Provincia')),
    texts([phones, textOf(issuer, 'CorreoEmisor'), textOf(issuer, 'WebSite')]).join(' · '),
    textOf(issuer, 'ActividadEconomica'),
    textOf(issuer, 'InformacionAdicionalEmisor'),
    labelled('Fecha de emisión', textOf(issuer, 'FechaEmision')),
  ]);
}

function telephones(issuer: DocumentNode | null): string {
  const value = groupOf(issuer, 'TablaTelefonoEmisor')?.TelefonoEmisor;
  return (Array.isArray(value) ? value : [value]).filter((phone) => typeof phone === 'string').join(', ');
}

function printedBuyer(buyer: DocumentNode): { name: string; details: string[] } {
  return {
    name: textOf(buyer, 'RazonSocialComprador') ?? '',
    details: texts([
      labelled('RNC', textOf(buyer, 'RNCComprador')),
      labelled('Identificación', textOf(buyer, 'IdentificadorExtranjero')),
      textOf(buyer, 'DireccionComprador'),
      place(textOf(buyer, 'MunicipioComprador'), textOf(buyer, 'ProvinciaComprador')),
      textOf(buyer, 'PaisComprador'),
      labelled('Atención', textOf(buyer, 'ContactoComprador')),
      textOf(buyer, 'CorreoComprador'),
      labelled('Código de cliente', textOf(buyer, 'CodigoInternoComprador')),
      textOf(buyer, 'InformacionAdicionalComprador'),
    ]),
  };
}

function facts(header: DocumentNode | null): Labelled[] {
  const [id, issuer, buyer] = [groupOf(header, 'IdDoc'), groupOf(header, 'Emisor'), groupOf(header, 'Comprador')];
  const [currency, rate] = [
    textOf(groupOf(header, 'OtraMoneda'), 'TipoMoneda'),
    textOf(groupOf(header, 'OtraMoneda'), 'TipoCambio'),
  ];
  const period = texts([textOf(id, 'FechaDesde'), textOf(id, 'FechaHasta')]).join(' a ');
  const terms = texts([PAYMENT_CONDITIONS[integerOf(id, 'TipoPago') ?? ''] ?? null, textOf(id, 'TerminoPago')]);
  return [
    ...given('Condición de pago', terms.join(', ')),
    ...given('Fecha límite de pago', textOf(id, 'FechaLimitePago')),
    ...given('Período', period),
    ...given('Moneda', currency && (rate === null ? currency : `${currency}, tasa ${rate}`)),
    ...given('Factura interna', textOf(issuer, 'NumeroFacturaInterna')),
    ...given('Pedido', textOf(issuer, 'NumeroPedidoInterno')),
    ...given(
      'Orden de compra',
      texts([textOf(buyer, 'NumeroOrdenCompra'), textOf(buyer, 'FechaOrdenCompra')]).join(', '),
    ),
    ...given('Vendedor', textOf(issuer, 'CodigoVendedor')),
    ...given('Zona y ruta', texts([textOf(issuer, 'ZonaVenta'), textOf(issuer, 'RutaVenta')]).join(', ')),
    ...given('Responsable de pago', textOf(buyer, 'ResponsablePago')),
  ];
}

/** The columns that at least one line fills, and the lines. */
function table(
  items: readonly DocumentNode[],
  header: DocumentNode | null,
  currency: string | null,
): Pick<PrintedForm, 'columns' | 'lines' | 'wide'> {
  const included = textOf(groupOf(header, 'IdDoc'), 'IndicadorMontoGravado') === '1';
  const selective = selectiveTaxOf(items, groupOf(header, 'Totales'));
  const pesos = currency === null ? '' : ' (DOP)';
  const foreign = (item: DocumentNode, element: string) => amount(groupOf(item, 'OtraMonedaDetalle'), element);
  const inCurrency = items.some((item) => groupOf(item, 'OtraMonedaDetalle') !== null);
  const columns: readonly (readonly [string, ColumnKind, (item: DocumentNode) => string])[] = [
    ['Cantidad', 'quantity', (item) => quantity(textOf(item, 'CantidadItem'))],
    ['Descripción', 'description', (item) => textOf(item, 'NombreItem') ?? ''],
    ['Unidad', 'unit', (item) => ((code) => (code === null ? '' : unitName(code)))(integerOf(item, 'UnidadMedida'))],
    ['° alcohol', 'amount', (item) => quantity(textOf(item, 'GradosAlcohol'))],
    ['PVP', 'amount', (item) => price(textOf(item, 'PrecioUnitarioReferencia'))],
    [`Precio${pesos}`, 'amount', (item) => price(textOf(item, 'PrecioUnitarioItem'))],
    ['Descuento', 'amount', (item) => amount(item, 'DescuentoMonto')],
    ['Recargo', 'amount', (item) => amount(item, 'RecargoMonto')],
    ['ITBIS', 'amount', (item) => itbis(item, included, selective(item))],
    [`Valor${pesos}`, 'amount', (item) => amount(item, 'MontoItem')],
    ...(inCurrency
      ? ([
          [
            `Valor (${currency ?? 'otra moneda'})`,
            'amount',
            (item: DocumentNode) => foreign(item, 'MontoItemOtraMoneda'),
          ],
        ] as const)
      : []),
  ];
  const always = new Set(['Cantidad', 'Descripción', `Precio${pesos}`, 'ITBIS', `Valor${pesos}`]);
  const rows = items.map((item) => columns.map(([, , cell]) => cell(item)));
  const shown = columns.map(([title], index) => always.has(title) || rows.some((row) => row[index] !== ''));
  return {
    columns: columns
      .map(([title, kind], index) => ({ title, kind, width: shareOf([title, ...rows.map((row) => row[index] ?? '')]) }))
      .filter((_, index) => shown[index]),
    lines: items.map((item, line) => ({
      cells: (rows[line] ?? []).filter((_, index) => shown[index]),
      notes: lineNotes(item),
      exempt: integerOf(item, 'IndicadorFacturacion') === '4',
      amount: (Decimal.parse(textOf(item, 'MontoItem') ?? '') ?? Decimal.ZERO).toFixed(2),
    })),
    wide: rows.some((row) =>
      row.some((cell, index) => columns[index]?.[1] !== 'description' && cell.length > USUAL_WIDTH),
    ),
  };
}

/** Longer amounts are broken, so they get no larger share. */
function shareOf(cells: readonly string[]): number {
  const longest = cells.reduce((most, cell) => Math.max(most, ...cell.split(' ').map((word) => word.length)), 0);
  return Math.min(longest, USUAL_WIDTH) + 3;
}

function lineNotes(item: DocumentNode): string[] {
  const codes = groupsOf(groupOf(item, 'TablaCodigosItem'), 'CodigosItem').map((code) =>
    labelled(textOf(code, 'TipoCodigo') ?? 'Código', textOf(code, 'CodigoItem')),
  );
  const taxes = groupsOf(groupOf(item, 'TablaImpuestoAdicional'), 'ImpuestoAdicional').map((tax) =>
    taxName(textOf(tax, 'TipoImpuesto') ?? ''),
  );
  const withheld = groupOf(item, 'Retencion');
  const reference = textOf(item, 'CantidadReferencia');
  const unit = integerOf(item, 'UnidadReferencia');
  const subquantities = groupsOf(groupOf(item, 'TablaSubcantidad'), 'SubcantidadItem').map((one) =>
    texts([quantity(textOf(one, 'Subcantidad')), unitNameOf(integerOf(one, 'CodigoSubcantidad'))]).join(' '),
  );
  const mining = groupOf(item, 'Mineria');
  return texts([
    textOf(item, 'DescripcionItem'),
    codes.join(', '),
    integerOf(item, 'IndicadorFacturacion') === '0' ? 'No facturable' : null,
    reference && `Referencia: ${texts([quantity(reference), unitNameOf(unit), ...subquantities]).join(' ')}`,
    labelled('Elaborado', textOf(item, 'FechaElaboracion')),
    labelled('Vence', textOf(item, 'FechaVencimientoItem')),
    taxes.join('; '),
    labelled('ITBIS retenido', amount(withheld, 'MontoITBISRetenido')),
    labelled('ISR retenido', amount(withheld, 'MontoISRRetenido')),
    labelled('Peso neto (kg)', quantity(textOf(mining, 'PesoNetoKilogramo'))),
  ]);
}

/** Characters of an amount up to 999,999,999.99, or of a unit. */
const USUAL_WIDTH = 14;

/**
 * The ITBIS of a line: of its amount, or inside it where prices include the tax, and of its selective taxes (`selective`). Empty if
 * these are not known (null).
 */
function itbis(item: DocumentNode, included: boolean, selective: Decimal | null): string {
  const rate = ITBIS_RATES[integerOf(item, 'IndicadorFacturacion') ?? ''];
  const value = Decimal.parse(textOf(item, 'MontoItem') ?? '');
  if (value === null || selective === null) return '';
  if (rate === undefined) return money('0.00');
  const net = included ? value.dividedBy(Decimal.ONE.plus(rate)) : value;
  return money(net.plus(selective).times(rate).toFixed(2));
}

function hasSelectiveTax(item: DocumentNode): boolean {
  return groupsOf(groupOf(item, 'TablaImpuestoAdicional'), 'ImpuestoAdicional').some(isSelective);
}

/** True for the selective taxes on consumption of alcohol and tobacco, which are part of the base of ITBIS. */
function isSelective(tax: DocumentNode): boolean {
  const code = textOf(tax, 'TipoImpuesto') ?? '';
  return code >= '006' && code <= '039';
}

/**
 * The selective taxes of a line. An e-CF states only their sum over all lines, so they are known of a line that alone has some; null
 * for other lines with such taxes, and for a line that is not taxed at 18 %, the rate at which ITBIS is due on them.
 */
function selectiveTaxOf(
  items: readonly DocumentNode[],
  sums: DocumentNode | null,
): (item: DocumentNode) => Decimal | null {
  const alone = items.filter(hasSelectiveTax).length === 1;
  const amounts = groupsOf(groupOf(sums, 'ImpuestosAdicionales'), 'ImpuestoAdicional')
    .filter(isSelective)
    .flatMap((tax) => TAX_AMOUNTS.map((element) => Decimal.parse(textOf(tax, element) ?? '') ?? Decimal.ZERO));
  const sum = amounts.reduce((before, one) => before.plus(one), Decimal.ZERO);
  return (item) => {
    if (!hasSelectiveTax(item)) return Decimal.ZERO;
    return alone && integerOf(item, 'IndicadorFacturacion') === '1' ? sum : null;
  };
}

/** The amounts that an additional tax may have. */
const TAX_AMOUNTS = [
  'MontoImpuestoSelectivoConsumoEspecifico',
  'MontoImpuestoSelectivoConsumoAdvalorem',
  'OtrosImpuestosAdicionales',
];

function totals(header: DocumentNode | null, adjustments: readonly DocumentNode[]): PrintedForm['totals'] {
  const [sums, other] = [groupOf(header, 'Totales'), groupOf(header, 'OtraMoneda')];
  const row = (label: string, element: string, inCurrency?: string, strong = false) => {
    const value = amount(sums, element);
    const foreign = inCurrency === undefined ? '' : amount(other, inCurrency);
    return value === '' ? [] : [{ label, value, foreign, strong }];
  };
  const rate = (element: string) => {
    const percent = integerOf(sums, element);
    return percent === null ? '' : ` ${percent} %`;
  };
  return [
    ...adjustments.map((one) => ({
      label: adjustmentLabel(one),
      value: `${textOf(one, 'TipoAjuste') === 'D' ? '−' : ''}${amount(one, 'MontoDescuentooRecargo')}`,
      foreign: amount(one, 'MontoDescuentooRecargoOtraMoneda'),
      strong: false,
    })),
    ...row(`Gravado${rate('ITBIS1')}`, 'MontoGravadoI1', 'MontoGravado1OtraMoneda'),
    ...row(`Gravado${rate('ITBIS2')}`, 'MontoGravadoI2', 'MontoGravado2OtraMoneda'),
    ...row(`Gravado${rate('ITBIS3')}`, 'MontoGravadoI3', 'MontoGravado3OtraMoneda'),
    ...row('Subtotal gravado', 'MontoGravadoTotal', 'MontoGravadoTotalOtraMoneda'),
    ...row('Subtotal exento', 'MontoExento', 'MontoExentoOtraMoneda'),
    ...row(`ITBIS${rate('ITBIS1')}`, 'TotalITBIS1', 'TotalITBIS1OtraMoneda'),
    ...row(`ITBIS${rate('ITBIS2')}`, 'TotalITBIS2', 'TotalITBIS2OtraMoneda'),
    ...row(`ITBIS${rate('ITBIS3')}`, 'TotalITBIS3', 'TotalITBIS3OtraMoneda'),
    ...row('Total ITBIS', 'TotalITBIS', 'TotalITBISOtraMoneda'),
    ...additionalTaxes(sums, other),
    ...row('Total', 'MontoTotal', 'MontoTotalOtraMoneda', true),
    ...row('ITBIS retenido', 'TotalITBISRetenido'),
    ...row('ISR retenido', 'TotalISRRetencion'),
    ...row('ITBIS percibido', 'TotalITBISPercepcion'),
    ...row('ISR percibido', 'TotalISRPercepcion'),
    ...row('No facturable', 'MontoNoFacturable'),
    ...row('Monto del período', 'MontoPeriodo'),
    ...row('Saldo anterior', 'SaldoAnterior'),
    ...row('Avance de pago', 'MontoAvancePago'),
    ...row('Valor a pagar', 'ValorPagar', undefined, true),
  ];
}

function adjustmentLabel(adjustment: DocumentNode): string {
  const kind = textOf(adjustment, 'TipoAjuste') === 'D' ? 'Descuento' : 'Recargo';
  const percent = textOf(adjustment, 'TipoValor') === '%' ? textOf(adjustment, 'ValorDescuentooRecargo') : null;
  const described = textOf(adjustment, 'DescripcionDescuentooRecargo');
  return texts([described ?? kind, percent && `(${quantity(percent)} %)`]).join(' ');
}

/** One row per additional tax and kind of amount. */
function additionalTaxes(sums: DocumentNode | null, other: DocumentNode | null): PrintedForm['totals'] {
  const foreign = groupsOf(groupOf(other, 'ImpuestosAdicionalesOtraMoneda'), 'ImpuestoAdicionalOtraMoneda');
  const taxes = groupsOf(groupOf(sums, 'ImpuestosAdicionales'), 'ImpuestoAdicional');
  return taxes.flatMap((tax) => {
    const code = textOf(tax, 'TipoImpuesto') ?? '';
    // Amounts of a code that is repeated cannot be paired.
    const once = taxes.filter((one) => textOf(one, 'TipoImpuesto') === code).length === 1;
    const same = foreign.filter((one) => textOf(one, 'TipoImpuestoOtraMoneda') === code);
    const label = taxName(code);
    return TAX_AMOUNTS.map((element) => ({
      label,
      value: amount(tax, element),
      foreign: amount(once && same.length === 1 ? (same[0] ?? null) : null, `${element}OtraMoneda`),
      strong: false,
    })).filter(({ value }) => value !== '');
  });
}

function sections(ecf: DocumentNode | null, header: DocumentNode | null): PrintedForm['sections'] {
  const id = groupOf(header, 'IdDoc');
  const buyer = groupOf(header, 'Comprador');
  const [info, transport] = [groupOf(header, 'InformacionesAdicionales'), groupOf(header, 'Transporte')];
  const payments = groupsOf(groupOf(id, 'TablaFormasPago'), 'FormaDePago').flatMap((form) =>
    given(PAYMENT_FORMS[integerOf(form, 'FormaPago') ?? ''] ?? 'Otra forma', amount(form, 'MontoPago')),
  );
  const account = texts([textOf(id, 'BancoPago'), textOf(id, 'TipoCuentaPago'), textOf(id, 'NumeroCuentaPago')]);
  const subtotals = groupsOf(groupOf(ecf, 'Subtotales'), 'Subtotal').flatMap((one) =>
    given(textOf(one, 'DescripcionSubtotal') ?? 'Subtotal', amount(one, 'MontoSubTotal')),
  );
  const weight = (value: string, unit: string) =>
    texts([quantity(textOf(info, value)), unitNameOf(integerOf(info, unit))]).join(' ');
  const delivery = [
    ...given('Entrega', textOf(buyer, 'FechaEntrega')),
    ...given('Dirección de entrega', textOf(buyer, 'DireccionEntrega')),
    ...given(
      'Contacto de entrega',
      texts([textOf(buyer, 'ContactoEntrega'), textOf(buyer, 'TelefonoAdicional')]).join(', '),
    ),
    ...labels(transport, TRANSPORT),
    ...given('Vía', TRANSPORT_MODES[textOf(transport, 'ViaTransporte') ?? ''] ?? null),
    ...labels(info, SHIPPING),
    ...given('Peso bruto', weight('PesoBruto', 'UnidadPesoBruto')),
    ...given('Peso neto', weight('PesoNeto', 'UnidadPesoNeto')),
    ...given('Bultos', weight('CantidadBulto', 'UnidadBulto')),
    ...given('Volumen', weight('VolumenBulto', 'UnidadVolumen')),
    ...EXPORT_AMOUNTS.flatMap(([label, element]) => given(label, amount(info, element))),
  ];
  return [
    { title: 'Subtotales', rows: subtotals },
    { title: 'Formas de pago', rows: [...payments, ...given('Cuenta', account.join(' '))] },
    { title: 'Entrega y transporte', rows: delivery },
  ].filter(({ rows }) => rows.length > 0);
}

const TRANSPORT: readonly Labelled[] = [
  ['Conductor', 'Conductor'],
  ['Documento de transporte', 'DocumentoTransporte'],
  ['Ficha', 'Ficha'],
  ['Placa', 'Placa'],
  ['Ruta', 'RutaTransporte'],
  ['Zona', 'ZonaTransporte'],
  ['Albarán', 'NumeroAlbaran'],
  ['País de origen', 'PaisOrigen'],
  ['Dirección de destino', 'DireccionDestino'],
  ['País de destino', 'PaisDestino'],
  ['Transportista', 'NombreCompaniaTransportista'],
  ['Identificación del transportista', 'RNCIdentificacionCompaniaTransportista'],
  ['Viaje', 'NumeroViaje'],
];

const SHIPPING: readonly Labelled[] = [
  ['Embarque', 'NumeroEmbarque'],
  ['Fecha de embarque', 'FechaEmbarque'],
  ['Contenedor', 'NumeroContenedor'],
  ['Referencia', 'NumeroReferencia'],
  ['Puerto de embarque', 'NombrePuertoEmbarque'],
  ['Puerto de salida', 'NombrePuertoSalida'],
  ['Puerto de desembarque', 'NombrePuertoDesembarque'],
  ['Condiciones de entrega', 'CondicionesEntrega'],
  ['Régimen aduanero', 'RegimenAduanero'],
];

const EXPORT_AMOUNTS: readonly Labelled[] = [
  ['Total FOB', 'TotalFob'],
  ['Seguro', 'Seguro'],
  ['Flete', 'Flete'],
  ['Otros gastos', 'OtrosGastos'],
  ['Total CIF', 'TotalCif'],
];

function labels(group: DocumentNode | null, elements: readonly Labelled[]): Labelled[] {
  return elements.flatMap(([label, element]) => given(label, textOf(group, element)));
}

function unitNameOf(code: string | null): string {
  return code === null ? '' : unitName(code);
}

function place(municipality: string | null, province: string | null): string {
  const names = [municipality, province].map((code) => (code === null ? null : (PLACES.get(code) ?? code)));
  return [...new Set(texts(names))].join(', ');
}

function labelled(label: string, value: string | null): string | null {
  return value === null || value === '' ? null : `${label}: ${value}`;
}

function given(label: string, value: string | null): Labelled[] {
  return value === null || value.trim() === '' ? [] : [[label, value]];
}

function texts(values: readonly (string | null)[]): string[] {
  return values.filter((value): value is string => value !== null && value.trim() !== '');
}

/** An amount of a group with two digits and separated thousands (`1,234.50`); empty if the group has none. */
function amount(group: DocumentNode | null, element: string): string {
  const value = Decimal.parse(textOf(group, element) ?? '');
  return value === null ? '' : money(value.toFixed(2));
}

/** A price with the digits that the document writes, at least two and at most four. */
function price(text: string | null): string {
  const value = Decimal.parse(text ?? '');
  return value === null ? '' : money(value.toFixed(4).replace(/0{1,2}$/, ''));
}

/** A quantity without trailing zeros, of at most four digits. */
function quantity(text: string | null): string {
  const value = Decimal.parse(text ?? '');
  if (value === null) return '';
  const digits = [0, 1, 2, 3].find((count) => value.round(count).equals(value)) ?? 4;
  return money(value.toFixed(digits));
}

/** `1234.50` as `1,234.50`. */
function money(decimal: string): string {
  const [whole = '', ...fraction] = decimal.split('.');
  const groups: string[] = [];
  let rest = whole.replace('-', '');
  for (; rest.length > 3; rest = rest.slice(0, -3)) groups.unshift(rest.slice(-3));
  return [(whole.startsWith('-') ? '-' : '') + [rest, ...groups].join(','), ...fraction].join('.');
}
