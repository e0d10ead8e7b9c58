import { type Environment, groupOf, isRnc, textOf } from '@ecf/domain';
import { type Answer, type Handler, sentenceAnswer, textAnswer } from '../http/call.js';
import { type DocumentFacts, factsOf } from '../ledger/document-facts.js';
import { readSigned, signerOf } from '../verdicts/signed-document.js';
import { ACCEPTED, isAccepted } from '../verdicts/verdict.js';
import { type Counterpart, PROVIDER_RNC, RECEIVER_RNC, type ReceiptRecord } from './counterpart-state.js';
import { Order } from './order.js';
import { address, logIn, post, type Reply, signed } from './outbound.js';
import { approval, DELIVERED_TYPES, sampleEcf } from './sample-documents.js';

/**
 * Issues an e-CF to a taxpayer and delivers it to the address that is given; the answer is the e-CF. The authority has
 * accepted it by then, so that the taxpayer may approve it.
 */
export function sendEcf(counterpart: Counterpart): Handler {
  return async (call) => {
    const order = Order.read(call);
    const buyer = order?.get('rnc') ?? null;
    const receiver = order?.get('urlrecepcion') ?? null;
    const type = order?.get('tipoencf')?.replace(/^E/i, '') ?? null;
    if (!order || buyer === null || !isRnc(buyer)) return sentenceAnswer(400, 'El campo rnc no es válido.');
    if (receiver === null || !URL.canParse(receiver)) return sentenceAnswer(400, 'El campo urlRecepcion no es válido.');
    if (type === null || !DELIVERED_TYPES.includes(type)) {
      return sentenceAnswer(400, `El tipo de comprobante ${type ?? ''} no se envía a receptores.`);
    }
    const { certificate } = counterpart.identity;
    const now = counterpart.clock();
    const encf = nextNumber(counterpart, type, now);
    const tree = sampleEcf(type, encf, buyer, now);
    const xml = await signed(tree, certificate);
    record(counterpart, call.env, encf, xml, now);
    const authentication = order.get('urlautenticacion');
    const token = authentication === null ? null : await logIn(authentication, certificate);
    const filename = `${PROVIDER_RNC}${encf}.xml`;
    const part = {
      headers: [
        `Content-Disposition: form-data; name="xml"; filename="${filename}"`,
        'Content-Type: multipart/form-data;',
      ],
      content: xml,
    };
    const reply = await post(address(receiver, '/fe/Recepcion/api/ecf'), part, token);
    const facts = factsOf(tree, '');
    counterpart.state.issued.set(`${buyer}|${encf}`, {
      facts,
      receipt: receiptOf(counterpart, reply, buyer, encf, now),
    });
    return textAnswer(200, xml, 'application/xml; charset=utf-8');
  };
}

/** Numbers follow the clock, so that a restarted counterpart does not repeat them. */
function nextNumber({ state }: Counterpart, type: string, now: Date): string {
  state.lastSequence = Math.max(state.lastSequence + 1, Math.floor(now.getTime() / 1000));
  return `E${type}${String(state.lastSequence).padStart(10, '0')}`;
}

function record({ ledger, newId }: Counterpart, env: Environment, encf: string, xml: string, now: Date): void {
  const bytes = Buffer.from(xml, 'utf8');
  ledger.note(
    {
      operation: 'recepcion',
      env,
      rnc: PROVIDER_RNC,
      encf,
      filename: `${PROVIDER_RNC}${encf}.xml`,
      receivedAt: now.getTime(),
      trackId: newId(),
      verdict: ACCEPTED,
      effective: true,
    },
    bytes,
  );
}

/** Which answer the receiver gave to one of the counterpart's documents. */
export function queryReceipt({ state }: Counterpart): Handler {
  return ({ query }) => {
    const rnc = query.get('rnc') ?? '';
    const encf = query.get('encf')?.toUpperCase() ?? '';
    const issued = state.issued.get(`${rnc}|${encf}`);
    return receiptAnswer(rnc, encf, issued?.receipt ?? { estado: 'No encontrado', mensajes: [] });
  };
}

function receiptAnswer(rnc: string, encf: string, { estado, mensajes }: ReceiptRecord): Answer {
  return { status: 200, body: { root: 'RespuestaConsultaAcuseRecibo', value: { rnc, encf, estado, mensajes } } };
}

const MOTIVES: Readonly<Record<string, string>> = {
  '1': 'Error de especificación.',
  '2': 'Error de Firma Digital.',
  '3': 'Envío duplicado',
  '4': 'RNC Comprador no corresponde',
};

/** The content of an acknowledgement, or its fault. */
function receiptOf(
  { signatures }: Counterpart,
  { status, body }: Reply,
  buyer: string,
  encf: string,
  now: Date,
): ReceiptRecord {
  const invalid = (reason: string): ReceiptRecord => ({ estado: 'Acuse de recibo no válido', mensajes: [reason] });
  if (status !== 200) return invalid(`El receptor respondió HTTP ${status}`);
  const document = readSigned(body, now);
  const fields = groupOf(groupOf(document?.tree ?? null, 'ARECF'), 'DetalleAcusedeRecibo');
  if (!document || !fields || document.checked.faults.length > 0) return invalid('El formato del XML no es válido');
  if (!signerOf(document, signatures)) return invalid('La firma del XML no es válida');
  const names = [textOf(fields, 'RNCEmisor'), textOf(fields, 'RNCComprador'), textOf(fields, 'eNCF')];
  if (names.join() !== [PROVIDER_RNC, buyer, encf].join()) return invalid('El acuse es de otro comprobante');
  if (textOf(fields, 'Estado')?.trim() === '0') return { estado: 'e-CF Recibido', mensajes: [] };
  const motive = textOf(fields, 'CodigoMotivoNoRecibido')?.trim() ?? '';
  return { estado: 'e-CF No Recibido', mensajes: [MOTIVES[motive] ?? motive] };
}

/** Types that are not approved. Source: technical description pp.44-46. */
const NOT_APPROVABLE = new Set(['32', '41', '43', '46', '47']);

/** Sends an approval or rejection of a taxpayer's e-CF to the address that is given; the answer is the ACECF. */
export function sendApproval(counterpart: Counterpart): Handler {
  return async (call) => {
    const order = Order.read(call);
    const issuer = order?.get('rnc') ?? null;
    const encf = order?.get('encf')?.toUpperCase() ?? null;
    const target = order?.get('urlaprobacioncomercial') ?? null;
    const decision = order?.get('estadoaprobacion') ?? null;
    if (!order || issuer === null) return sentenceAnswer(400, 'El campo rnc no es válido.');
    if (encf === null) return sentenceAnswer(400, 'El campo encf no es válido.');
    if (target === null || !URL.canParse(target)) {
      return sentenceAnswer(400, 'El campo urlAprobacionComercial no es válido.');
    }
    if (decision !== '1' && decision !== '2') return sentenceAnswer(400, 'El campo estadoAprobacion no es válido.');
    if (NOT_APPROVABLE.has(encf.slice(1, 3))) {
      return sentenceAnswer(400, 'Aprobación Comercial no es requerida para este tipo de e-CF');
    }
    const facts = documentOf(counterpart, call.env, issuer, encf);
    if (!facts) return sentenceAnswer(400, 'Factura no encontrada para esta Aprobación comercial.');
    const { certificate } = counterpart.identity;
    const authentication = order.get('urlautenticacion');
    const token = authentication === null ? null : await logIn(authentication, certificate);
    const about = {
      issuer,
      encf,
      buyer: facts.buyer ?? RECEIVER_RNC,
      issueDate: facts.issueDate ?? '',
      total: facts.total,
      approved: decision === '1',
    };
    const xml = await signed(approval(about, counterpart.clock()), certificate);
    await post(address(target, '/fe/AprobacionComercial/api/ecf'), { headers: PART_HEADERS, content: xml }, token);
    return textAnswer(200, xml, 'application/xml; charset=utf-8');
  };
}

/** Unquoted, without a content type, and the file name is always the same. Source: captured messages. */
const PART_HEADERS = [
  "Content-Disposition: form-data; name=xml; filename=aprobacionComercial.xml; filename*=utf-8''aprobacionComercial.xml",
];

/** The e-CF as it was delivered to the counterpart, or as the authority accepted it. */
function documentOf(
  { state, ledger, facts }: Counterpart,
  env: Environment,
  issuer: string,
  encf: string,
): DocumentFacts | null {
  const received = state.received.get(`${issuer}|${encf}`);
  if (received) return received;
  const holder = ledger.numbers.holder(env, issuer, encf);
  return holder && isAccepted(holder.verdict) ? facts.of(holder) : null;
}
