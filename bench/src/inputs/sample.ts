import type { DocumentNode } from '@ecf/domain';
import { openCertificate, type SigningCertificate } from '@ecf/xml-signing';
import { createCertificateAuthority } from '@ecf/xml-signing/certificate-authority';

export const ISSUER = '131999999';
export const BUYER = '130123454';

/** The parties of the invoices, and their date in the form of the documents (`DD-MM-YYYY`). */
export interface InvoiceParties {
  issuer: string;
  buyer: string;
  date: string;
}

const PARTIES: InvoiceParties = { issuer: ISSUER, buyer: BUYER, date: '02-01-2026' };

/** The number of the n-th invoice of type 31. */
export function encfOf(n: number): string {
  return `E31${String(n).padStart(10, '0')}`;
}

/** Invoice JSON of type 31 with this number of lines, consistent in its sums. */
export function invoice(encf: string, lines: number, { issuer, buyer, date } = PARTIES): DocumentNode {
  const price = 250.25;
  const base = (lines * price).toFixed(2);
  const tax = (Math.round(lines * price * 18) / 100).toFixed(2);
  const total = (Number(base) + Number(tax)).toFixed(2);
  return {
    ECF: {
      Encabezado: {
        Version: '1.0',
        IdDoc: {
          TipoeCF: '31',
          eNCF: encf,
          FechaVencimientoSecuencia: '31-12-2028',
          IndicadorMontoGravado: '0',
          TipoIngresos: '01',
          TipoPago: '1',
        },
        Emisor: {
          RNCEmisor: issuer,
          RazonSocialEmisor: 'COMERCIAL EL MUELLE SRL',
          DireccionEmisor: 'CALLE DEL PUERTO NO. 12, ZONA COLONIAL',
          Municipio: '010100',
          Provincia: '010000',
          CorreoEmisor: 'facturas@muelle.example',
          FechaEmision: date,
        },
        Comprador: {
          RNCComprador: buyer,
          RazonSocialComprador: 'DISTRIBUIDORA LA LOMA SRL',
          DireccionComprador: 'AVENIDA DE LOS PINOS NO. 7',
        },
        Totales: {
          MontoGravadoTotal: base,
          MontoGravadoI1: base,
          ITBIS1: '18',
          TotalITBIS: tax,
          TotalITBIS1: tax,
          MontoTotal: total,
        },
      },
      DetallesItems: {
        Item: Array.from({ length: lines }, (_, index) => ({
          NumeroLinea: String(index + 1),
          IndicadorFacturacion: '1',
          NombreItem: `CAJA DE HERRAMIENTAS MODELO ${index + 1}`,
          IndicadorBienoServicio: '1',
          DescripcionItem: 'Acero templado, doce piezas, con estuche y garantía de dos años',
          CantidadItem: '1.00',
          UnidadMedida: '43',
          PrecioUnitarioItem: '250.2500',
          MontoItem: '250.25',
        })),
      },
    },
  };
}

/** A signing certificate of the test authority. */
export function certificate(): { certificate: SigningCertificate; p12: Buffer; password: string } {
  const now = Date.now();
  const issued = createCertificateAuthority().issue({
    commonName: 'REPRESENTANTE DE PRUEBA',
    holderId: '00100000009',
    notBefore: new Date(now - 86_400_000),
    notAfter: new Date(now + 365 * 86_400_000),
    password: 'bench',
  });
  return { certificate: openCertificate(issued.p12, issued.password), p12: issued.p12, password: issued.password };
}
