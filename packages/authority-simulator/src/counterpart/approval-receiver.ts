import { Decimal, groupOf, parseDocumentDate, textOf } from '@ecf/domain';
import { type Answer, documentHandler, type Handler, sentenceAnswer } from '../http/call.js';
import { readSigned, signerOf } from '../verdicts/signed-document.js';
import type { Counterpart } from './counterpart-state.js';
import { PROVIDER_RNC } from './identity.js';

/** Takes the approval of a document that the counterpart issued: 200 when all is well, else 400. */
export function receiveApproval(counterpart: Counterpart): Handler {
  const missing = sentenceAnswer(400, 'Debe enviar el archivo XML en el campo xml.');
  return documentHandler(missing, (_call, { bytes }) => {
    const refusal = refusalOf(counterpart, bytes);
    return refusal === null ? answer(200, 'OK', []) : answer(400, 'Error', [refusal]);
  });
}

function answer(status: number, codigo: string, mensaje: string[]): Answer {
  const estado = status === 200 ? 'Aprobación Comercial Aceptada' : 'Aprobación Comercial Rechazada';
  return { status, body: { root: 'RespuestaAprobacionComercial', value: { codigo, estado, mensaje } } };
}

function refusalOf({ state, signatures, clock }: Counterpart, bytes: Buffer): string | null {
  const document = readSigned(bytes, clock());
  const fields = groupOf(groupOf(document?.tree ?? null, 'ACECF'), 'DetalleAprobacionComercial');
  if (!document || !fields || document.checked.faults.length > 0) return 'El formato del XML no es válido';
  if (!signerOf(document, signatures)) return 'La firma del XML no es válida';
  const issued = state.issued.get(`${textOf(fields, 'RNCComprador')}|${textOf(fields, 'eNCF')}`);
  if (!issued || textOf(fields, 'RNCEmisor') !== PROVIDER_RNC) {
    return 'Factura no encontrada para esta Aprobación comercial.';
  }
  const total = Decimal.parse(textOf(fields, 'MontoTotal') ?? '');
  const sameTotal = total?.equals(Decimal.parse(issued.facts.total) ?? Decimal.ZERO) ?? false;
  const date = parseDocumentDate(textOf(fields, 'FechaEmision') ?? '');
  if (sameTotal && date === parseDocumentDate(issued.facts.issueDate ?? '')) return null;
  return 'No se encuentra un e-CF válido para esta aprobación comercial';
}
