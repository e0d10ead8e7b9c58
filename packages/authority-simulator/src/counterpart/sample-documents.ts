import { type DocumentNode, formatDocumentDate, formatSignatureDateTime, toCalendarDate } from '@ecf/domain';
import { PROVIDER_RNC } from './counterpart-state.js';

/** Types that the counterpart delivers and takes. Source: technical description pp.42-44. */
export const DELIVERED_TYPES: readonly string[] = ['31', '33', '34', '44'];

/** The amount of every document it issues. */
const TOTAL = '35400.00';

/**
 * An e-CF as the authority's counterpart issues it: version `1`, and a sequence that has run out long ago.
 * Source: captured messages.
 */
export function sampleEcf(type: string, encf: string, buyer: string, now: Date): DocumentNode {
  const today = formatDocumentDate(toCalendarDate(now));
  const exempt = type === '44';
  return {
    ECF: {
      Encabezado: {
        Version: '1',
        IdDoc: {
          TipoeCF: type,
          eNCF: encf,
          ...(type === '34' ? { IndicadorNotaCredito: '0' } : { FechaVencimientoSecuencia: '31-12-2020' }),
          ...(exempt ? {} : { IndicadorMontoGravado: '0' }),
          TipoIngresos: '01',
          TipoPago: '1',
        },
        Emisor: {
          RNCEmisor: PROVIDER_RNC,
          RazonSocialEmisor: 'DGII EMISOR RECEPTOR',
          DireccionEmisor: 'AVE. MEXICO 48',
          FechaEmision: today,
        },
        Comprador: { RNCComprador: buyer, RazonSocialComprador: 'CONTRIBUYENTE DE PRUEBA' },
        Totales: exempt
          ? { MontoExento: TOTAL, MontoTotal: TOTAL }
          : {
              MontoGravadoTotal: '30000.00',
              MontoGravadoI1: '30000.00',
              ITBIS1: '18',
              TotalITBIS: '5400.00',
              TotalITBIS1: '5400.00',
              MontoTotal: TOTAL,
            },
      },
      DetallesItems: {
        Item: [
          {
            NumeroLinea: '1',
            IndicadorFacturacion: exempt ? '4' : '1',
            NombreItem: 'SERVICIO DE PRUEBA',
            IndicadorBienoServicio: '2',
            CantidadItem: '1.00',
            PrecioUnitarioItem: exempt ? '35400.0000' : '30000.0000',
            MontoItem: exempt ? TOTAL : '30000.00',
          },
        ],
      },
      ...(type === '33' || type === '34' ? { InformacionReferencia: reference(today) } : {}),
      FechaHoraFirma: formatSignatureDateTime(now),
    },
  };
}

function reference(today: string): DocumentNode {
  return { NCFModificado: 'E310000000001', FechaNCFModificado: today, CodigoModificacion: '3' };
}

interface ReceiptFacts {
  readonly issuer: string;
  readonly buyer: string;
  readonly encf: string;
  /** Why it is not received: 1 to 4; null: it is. */
  readonly motive: string | null;
}

/** An acknowledgement of receipt (ARECF). */
export function receipt({ issuer, buyer, encf, motive }: ReceiptFacts, now: Date): DocumentNode {
  return {
    ARECF: {
      DetalleAcusedeRecibo: {
        Version: '1.0',
        RNCEmisor: issuer,
        RNCComprador: buyer,
        eNCF: encf,
        Estado: motive === null ? '0' : '1',
        ...(motive === null ? {} : { CodigoMotivoNoRecibido: motive }),
        FechaHoraAcuseRecibo: formatSignatureDateTime(now),
      },
    },
  };
}

export interface ApprovalFacts {
  readonly issuer: string;
  readonly buyer: string;
  readonly encf: string;
  readonly issueDate: string;
  readonly total: string;
  readonly approved: boolean;
}

/**
 * A commercial approval (ACECF) as the authority's counterpart writes it: a whole amount stands without decimals,
 * although the schema wants two. Source: captured messages.
 */
export function approval(facts: ApprovalFacts, now: Date): DocumentNode {
  return {
    ACECF: {
      DetalleAprobacionComercial: {
        Version: '1.0',
        RNCEmisor: facts.issuer,
        eNCF: facts.encf,
        FechaEmision: facts.issueDate,
        MontoTotal: facts.total.replace(/\.0+$/, ''),
        RNCComprador: facts.buyer,
        Estado: facts.approved ? '1' : '2',
        ...(facts.approved ? {} : { DetalleMotivoRechazo: 'Rechazado por el simulador' }),
        FechaHoraAprobacionComercial: formatSignatureDateTime(now),
      },
    },
  };
}
