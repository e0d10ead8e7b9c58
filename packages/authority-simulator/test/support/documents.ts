import { root } from './signing.js';

export const ISSUER = '131880738';
export const BUYER = '131880681';

export interface Ecf {
  readonly encf: string;
  readonly issuer?: string;
  readonly buyer?: string | null;
  readonly issued?: string;
  readonly expiry?: string | null;
  /** Net amount; 18 % are added. */
  readonly net?: number;
  /** MontoTotal as text; by default the correct one. */
  readonly total?: string;
  readonly creditNoteIndicator?: string;
  /** InformacionReferencia: NCFModificado, FechaNCFModificado, CodigoModificacion; RNCOtroContribuyente. */
  readonly modifies?: { encf: string; date: string; code: string; other?: string };
  readonly extra?: string;
}

function tag(name: string, text: string | null | undefined): string {
  return text === null || text === undefined ? '' : `<${name}>${text}</${name}>`;
}

/** An e-CF 31, 32, 33, 34 or 45 with one taxed line, unsigned, in canonical form. */
export function ecf(given: Ecf): string {
  const { encf, issuer = ISSUER, buyer = BUYER, issued = '10-06-2026', net = 1000 } = given;
  const type = encf.slice(1, 3);
  const expiry = given.expiry === undefined ? (['32', '34'].includes(type) ? null : '31-12-2028') : given.expiry;
  const vat = (net * 0.18).toFixed(2);
  const total = given.total ?? (net * 1.18).toFixed(2);
  const idDoc =
    tag('TipoeCF', type) +
    tag('eNCF', encf) +
    tag('FechaVencimientoSecuencia', expiry) +
    tag('IndicadorNotaCredito', type === '34' ? (given.creditNoteIndicator ?? '0') : null) +
    tag('IndicadorMontoGravado', '0') +
    tag('TipoIngresos', '01') +
    tag('TipoPago', '1');
  const { modifies } = given;
  const reference = modifies
    ? tag(
        'InformacionReferencia',
        tag('NCFModificado', modifies.encf) +
          tag('RNCOtroContribuyente', modifies.other) +
          tag('FechaNCFModificado', modifies.date) +
          tag('CodigoModificacion', modifies.code),
      )
    : '';
  return root(
    'ECF',
    tag(
      'Encabezado',
      tag('Version', '1.0') +
        tag('IdDoc', idDoc) +
        tag(
          'Emisor',
          tag('RNCEmisor', issuer) +
            tag('RazonSocialEmisor', 'EMISOR DE PRUEBA') +
            tag('DireccionEmisor', 'CALLE 1') +
            tag('FechaEmision', issued),
        ) +
        tag('Comprador', tag('RNCComprador', buyer) + tag('RazonSocialComprador', 'COMPRADOR DE PRUEBA')) +
        tag(
          'Totales',
          tag('MontoGravadoTotal', net.toFixed(2)) +
            tag('MontoGravadoI1', net.toFixed(2)) +
            tag('ITBIS1', '18') +
            tag('TotalITBIS', vat) +
            tag('TotalITBIS1', vat) +
            tag('MontoTotal', total),
        ),
    ) +
      tag(
        'DetallesItems',
        tag(
          'Item',
          tag('NumeroLinea', '1') +
            tag('IndicadorFacturacion', '1') +
            tag('NombreItem', 'PRODUCTO') +
            tag('IndicadorBienoServicio', '1') +
            tag('CantidadItem', '1.00') +
            tag('PrecioUnitarioItem', net.toFixed(4)) +
            tag('MontoItem', net.toFixed(2)),
        ),
      ) +
      reference +
      (given.extra ?? '') +
      tag('FechaHoraFirma', '10-06-2026 09:00:00'),
  );
}

/** A consumer summary, unsigned. */
export function rfce(encf: string, code: string, options: { net?: number; total?: string } = {}): string {
  const { net = 1000 } = options;
  const total = options.total ?? (net * 1.18).toFixed(2);
  const vat = (net * 0.18).toFixed(2);
  return root(
    'RFCE',
    tag(
      'Encabezado',
      tag('Version', '1.0') +
        tag('IdDoc', tag('TipoeCF', '32') + tag('eNCF', encf) + tag('TipoIngresos', '01') + tag('TipoPago', '1')) +
        tag(
          'Emisor',
          tag('RNCEmisor', ISSUER) + tag('RazonSocialEmisor', 'EMISOR DE PRUEBA') + tag('FechaEmision', '10-06-2026'),
        ) +
        tag('Comprador', tag('RazonSocialComprador', 'CONSUMIDOR FINAL')) +
        tag(
          'Totales',
          tag('MontoGravadoTotal', net.toFixed(2)) +
            tag('MontoGravadoI1', net.toFixed(2)) +
            tag('TotalITBIS', vat) +
            tag('TotalITBIS1', vat) +
            tag('MontoTotal', total),
        ) +
        tag('CodigoSeguridadeCF', code),
    ),
  );
}

/** A commercial approval, unsigned. */
export function acecf(
  encf: string,
  { issuer = ISSUER, buyer = BUYER, issued = '10-06-2026', total = '1180.00', state = '1' } = {},
): string {
  return root(
    'ACECF',
    tag(
      'DetalleAprobacionComercial',
      tag('Version', '1.0') +
        tag('RNCEmisor', issuer) +
        tag('eNCF', encf) +
        tag('FechaEmision', issued) +
        tag('MontoTotal', total) +
        tag('RNCComprador', buyer) +
        tag('Estado', state) +
        tag('DetalleMotivoRechazo', state === '2' ? 'No recibido' : null) +
        tag('FechaHoraAprobacionComercial', '10-06-2026 10:00:00'),
    ),
  );
}

export type Range = readonly [from: string, to: string];

/** A cancellation with one line for each type, unsigned. */
export function anecf(lines: readonly (readonly [type: string, ...ranges: Range[]])[], { first = 1 } = {}): string {
  const count = (ranges: readonly Range[]) =>
    ranges.reduce((sum, [from, to]) => sum + Number(to.slice(3)) - Number(from.slice(3)) + 1, 0);
  return root(
    'ANECF',
    tag(
      'Encabezado',
      tag('Version', '1.0') +
        tag('RncEmisor', ISSUER) +
        tag('CantidadeNCFAnulados', String(lines.reduce((sum, [, ...ranges]) => sum + count(ranges), 0))) +
        tag('FechaHoraAnulacioneNCF', '10-06-2026 10:00:00'),
    ) +
      tag(
        'DetalleAnulacion',
        lines
          .map(([type, ...ranges], index) =>
            tag(
              'Anulacion',
              tag('NoLinea', String(first + index)) +
                tag('TipoeCF', type) +
                tag(
                  'TablaRangoSecuenciasAnuladaseNCF',
                  ranges
                    .map(([from, to]) =>
                      tag('Secuencias', tag('SecuenciaeNCFDesde', from) + tag('SecuenciaeNCFHasta', to)),
                    )
                    .join(''),
                ) +
                tag('CantidadeNCFAnulados', String(count(ranges))),
            ),
          )
          .join(''),
      ),
  );
}
