import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

type Json = { [key: string]: Json } | Json[] | string;
// biome-ignore lint/suspicious/noExplicitAny: test documents are edited freely
export type Document = any;

const EXAMPLES = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../../../examples');

export const ISSUER = '199999991';
export const BUYER = '188888885';
export const OTHER_ISSUER = '131880681';

/** An example document under another number. `edit` changes it in place. */
export function example(name: string, sequence: number, edit?: (ecf: Document) => void): Document {
  const document = JSON.parse(readFileSync(path.join(EXAMPLES, `${name}.json`), 'utf8')) as Document;
  const idDoc = document.ECF.Encabezado.IdDoc as Record<string, Json>;
  idDoc.eNCF = encf(idDoc.TipoeCF as string, sequence);
  edit?.(document.ECF);
  return document;
}

export function encf(type: string, sequence: number): string {
  return `E${type}${String(sequence).padStart(10, '0')}`;
}

/** A credit note over `total` on a document that we issued. */
export function creditNote(
  sequence: number,
  modified: string,
  total: string,
  edit?: (ecf: Document) => void,
): Document {
  return example('ecf-34', sequence, (ecf) => {
    ecf.InformacionReferencia.NCFModificado = modified;
    ecf.Encabezado.IdDoc.IndicadorNotaCredito = '0';
    ecf.Encabezado.Totales = { MontoExento: total, MontoTotal: total };
    delete ecf.Encabezado.IdDoc.IndicadorMontoGravado;
    ecf.InformacionReferencia.CodigoModificacion = '3';
    ecf.DetallesItems.Item = [
      {
        NumeroLinea: '1',
        IndicadorFacturacion: '4',
        NombreItem: 'Ajuste',
        IndicadorBienoServicio: '1',
        CantidadItem: '1.00',
        UnidadMedida: '43',
        PrecioUnitarioItem: `${total}00`,
        MontoItem: total,
      },
    ];
    edit?.(ecf);
  });
}
