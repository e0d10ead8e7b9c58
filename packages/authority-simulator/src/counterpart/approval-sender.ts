import type { Environment } from '@ecf/domain';
import { type Handler, sentenceAnswer, textAnswer } from '../http/call.js';
import type { DocumentFacts } from '../ledger/document-facts.js';
import { isAccepted } from '../verdicts/verdict.js';
import type { Counterpart } from './counterpart-state.js';
import { RECEIVER_RNC } from './identity.js';
import { Order } from './order.js';
import { address, logIn, post, signed } from './outbound.js';
import { approval } from './sample-documents.js';

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
