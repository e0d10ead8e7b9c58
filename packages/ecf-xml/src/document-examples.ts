import type { DocumentNode, EcfType } from '@ecf/domain';

const ISSUER = {
  RNCEmisor: '199999991',
  RazonSocialEmisor: 'Comercial Palma Ficticia, SRL',
  DireccionEmisor: 'Calle Ejemplo 12, Ensanche Muestra',
  FechaEmision: '15-06-2026',
};
const BUYER = { RNCComprador: '188888885', RazonSocialComprador: 'Taller Caoba Imaginario, SRL' };
const EXPIRY = { FechaVencimientoSecuencia: '31-12-2028' };
const SALE = { TipoIngresos: '01', TipoPago: '1' };
const EXEMPT_TOTALS = { MontoExento: '550.00', MontoTotal: '550.00' };

const GOODS = {
  NumeroLinea: '1',
  IndicadorFacturacion: '4',
  NombreItem: 'Libro de contabilidad',
  IndicadorBienoServicio: '1',
  CantidadItem: '1.00',
  PrecioUnitarioItem: '550.0000',
  MontoItem: '550.00',
};
const REFERENCE = { NCFModificado: 'E310000000101', FechaNCFModificado: '15-06-2026', CodigoModificacion: '3' };

/** An invoice with one line. */
function example(type: EcfType, number: object, header: object, line: object, rest: object = {}): DocumentNode {
  return {
    Encabezado: {
      Version: '1.0',
      IdDoc: { TipoeCF: type, eNCF: `E${type}0000000101`, ...number },
      Emisor: ISSUER,
      ...header,
    },
    DetallesItems: { Item: [{ ...GOODS, ...line }] },
    ...rest,
  } as DocumentNode;
}

const sold = { Comprador: BUYER, Totales: EXEMPT_TOTALS };

/** A short invoice of each type, as it is submitted, of the made-up taxpayers of the sandbox; the content of the root ECF. */
export const DOCUMENT_EXAMPLES: Readonly<Record<EcfType, DocumentNode>> = {
  '31': example('31', { ...EXPIRY, ...SALE }, sold, {}),
  '32': example('32', SALE, { ...sold, Comprador: { RazonSocialComprador: 'Consumidor final' } }, {}),
  '33': example('33', { ...EXPIRY, ...SALE }, sold, {}, { InformacionReferencia: REFERENCE }),
  '34': example('34', { IndicadorNotaCredito: '0', ...SALE }, sold, {}, { InformacionReferencia: REFERENCE }),
  '41': example(
    '41',
    { ...EXPIRY, TipoPago: '1' },
    {
      Comprador: { RNCComprador: '00100000017', RazonSocialComprador: 'Pedro Supuesto' },
      Totales: { ...EXEMPT_TOTALS, TotalITBISRetenido: '0.00', TotalISRRetencion: '55.00' },
    },
    {
      Retencion: { IndicadorAgenteRetencionoPercepcion: '1', MontoITBISRetenido: '0.00', MontoISRRetenido: '55.00' },
      NombreItem: 'Servicio de pintura',
      IndicadorBienoServicio: '2',
    },
  ),
  '43': example('43', EXPIRY, { Totales: EXEMPT_TOTALS }, { NombreItem: 'Peaje', IndicadorBienoServicio: '2' }),
  '44': example('44', { ...EXPIRY, ...SALE }, sold, {}),
  '45': example('45', { ...EXPIRY, ...SALE }, sold, {}),
  '46': example(
    '46',
    { ...EXPIRY, ...SALE },
    {
      Comprador: { IdentificadorExtranjero: 'X-555-0199', RazonSocialComprador: 'Imaginary Imports Ltd' },
      Totales: {
        MontoGravadoTotal: '550.00',
        MontoGravadoI3: '550.00',
        ITBIS3: '0',
        TotalITBIS: '0.00',
        TotalITBIS3: '0.00',
        MontoTotal: '550.00',
      },
    },
    { IndicadorFacturacion: '3', NombreItem: 'Cacao en grano' },
  ),
  '47': example(
    '47',
    EXPIRY,
    {
      Comprador: { IdentificadorExtranjero: 'IE-555-0123', RazonSocialComprador: 'Imaginary Software Ltd' },
      Totales: { ...EXEMPT_TOTALS, TotalISRRetencion: '148.50' },
    },
    {
      Retencion: { IndicadorAgenteRetencionoPercepcion: '1', MontoISRRetenido: '148.50' },
      NombreItem: 'Licencia anual de programa',
      IndicadorBienoServicio: '2',
    },
  ),
};
