import { parseSignatureDateTime } from '@ecf/domain';

/** The element in which a document states when it was signed. RFCE and the seed state none. */
const SIGNING_TIME: Record<string, string> = {
  ECF: 'FechaHoraFirma',
  ARECF: 'FechaHoraAcuseRecibo',
  ACECF: 'FechaHoraAprobacionComercial',
  ANECF: 'FechaHoraAnulacioneNCF',
};

/** The signing time that a document states, or null. Read from canonical text, where no such element nests. */
export function statedSigningTime(rootName: string, text: string): Date | null {
  const element = SIGNING_TIME[rootName];
  if (element === undefined) return null;
  const start = text.lastIndexOf(`<${element}>`);
  if (start < 0) return null;
  const from = start + element.length + 2;
  return parseSignatureDateTime(text.slice(from, text.indexOf('<', from)));
}
