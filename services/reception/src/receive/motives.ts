import { withoutAccents } from '@ecf/domain';

/** CodigoMotivoNoRecibido of an acknowledgement with Estado 1. Source: Formato Acuse de Recibo v1.0 p.5. */
export type Motive = 1 | 2 | 3 | 4;

/** The authority's words for each motive. */
export const MOTIVES: Readonly<Record<Motive, string>> = {
  1: 'Error de especificación',
  2: 'Error de Firma Digital',
  3: 'Envío duplicado',
  4: 'RNC Comprador no corresponde',
};

const LONGEST = 480;

/**
 * Motive and particulars as one line that any HTTP header can carry: printable ASCII, accents dropped, at most 480
 * characters. `2 Error de Firma Digital: The document was changed after it was signed.`
 */
export function rejectionReason(motive: Motive, particulars: string): string {
  const words = withoutAccents(`${motive} ${MOTIVES[motive]}: ${particulars}`)
    .replace(/[^\x20-\x7e]+/g, ' ')
    .trim();
  return words.length <= LONGEST ? words : `${words.slice(0, LONGEST - 3)}...`;
}
