import { Decimal, type DocumentNode, groupOf, parseDocumentDate, textOf } from '@ecf/domain';
import { type Answer, documentHandler, type Handler, sentenceAnswer, textAnswer } from '../http/call.js';
import { factsOf } from '../ledger/document-facts.js';
import { readSigned, type SignedDocument, signerOf } from '../verdicts/signed-document.js';
import { type Counterpart, PROVIDER_RNC, RECEIVER_RNC } from './counterpart-state.js';
import { signed } from './outbound.js';
import { DELIVERED_TYPES, receipt } from './sample-documents.js';

/** Receives an e-CF like any receiver: the answer is a signed acknowledgement, also for a refusal. */
export function receiveEcf(counterpart: Counterpart): Handler {
  const missing = sentenceAnswer(400, 'Debe enviar el archivo XML en el campo xml.');
  return documentHandler(missing, async (_call, { bytes }) => {
    const now = counterpart.clock();
    const document = readSigned(bytes, now);
    const header = groupOf(groupOf(document?.tree ?? null, 'ECF'), 'Encabezado');
    const issuer = textOf(groupOf(header, 'Emisor'), 'RNCEmisor');
    const encf = textOf(groupOf(header, 'IdDoc'), 'eNCF');
    if (!document || issuer === null || encf === null) {
      return sentenceAnswer(400, 'El archivo no es un e-CF que se pueda leer.');
    }
    const buyer = textOf(groupOf(header, 'Comprador'), 'RNCComprador') ?? RECEIVER_RNC;
    const key = `${issuer}|${encf}`;
    const motive = motiveOf(counterpart, document, encf, key, buyer);
    if (motive === null) remember(counterpart, key, document.tree);
    const xml = await signed(receipt({ issuer, buyer, encf, motive }, now), counterpart.identity.certificate);
    return textAnswer(200, xml, 'application/xml; charset=utf-8');
  });
}

/** The first reason not to receive, in the order of the motives. */
function motiveOf(
  { state, signatures }: Counterpart,
  document: SignedDocument,
  encf: string,
  key: string,
  buyer: string,
): string | null {
  if (document.checked.faults.length > 0 || !DELIVERED_TYPES.includes(encf.slice(1, 3))) return '1';
  if (!signerOf(document, signatures)) return '2';
  if (state.received.has(key)) return '3';
  return buyer === RECEIVER_RNC || buyer === PROVIDER_RNC ? null : '4';
}

function remember({ state }: Counterpart, key: string, tree: DocumentNode): void {
  state.received.set(key, factsOf(tree, ''));
}

/** Takes the approval of a document that the counterpart issued: 200 when all is well, else 400. */
export function receiveApproval(counterpart: Counterpart): Handler {
  const missing = sentenceAnswer(400, 'Debe enviar el archivo XML en el campo xml.');
  return documentHandler(missing, (_call, { bytes }) => {
    const refusal = approvalRefusal(counterpart, bytes);
    return refusal === null ? approvalAnswer(200, 'OK', []) : approvalAnswer(400, 'Error', [refusal]);
  });
}

function approvalAnswer(status: number, codigo: string, mensaje: string[]): Answer {
  const estado = status === 200 ? 'Aprobación Comercial Aceptada' : 'Aprobación Comercial Rechazada';
  return { status, body: { root: 'RespuestaAprobacionComercial', value: { codigo, estado, mensaje } } };
}

function approvalRefusal({ state, signatures, clock }: Counterpart, bytes: Buffer): string | null {
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
