import { type Answer, type Call, documentHandler, type Handler, type Upload } from '../http/call.js';
import type { Simulation } from '../simulation.js';
import { type ApprovalDecision, decideApproval } from '../verdicts/decide-approval.js';
import type { Verdict } from '../verdicts/verdict.js';

type Approvals = Pick<Simulation, 'ledger' | 'taxpayers' | 'facts' | 'certification' | 'signatures' | 'clock'>;

/**
 * The authority's copy of a commercial approval (ACECF). "Approved" says that it was processed, not that the buyer
 * approves. A refusal comes with HTTP 400.
 */
export function receiveApproval(approvals: Approvals): Handler {
  const missing = approvalAnswer(400, '02', REFUSED, ['Archivo no válido']);
  return documentHandler(missing, (call, document) => receive(approvals, call, document));
}

const PROCESSED = 'Aprobación Comercial Aprobada.';
const REFUSED = 'Aprobacion Comercial Rechazada.';

function receive(approvals: Approvals, { env, fault }: Call, { filename, bytes }: Upload): Answer {
  const now = approvals.clock();
  const decision = decideApproval(approvals, { env, filename, bytes, now });
  const verdict = fault?.kind === 'verdict' ? fault.verdict : verdictOf(decision);
  const taken = Number(verdict.code) === 1;
  const noted = approvals.ledger.note(
    {
      operation: 'aprobacioncomercial',
      env,
      rnc: decision.rnc,
      buyer: decision.buyer,
      encf: decision.encf,
      filename,
      receivedAt: now.getTime(),
      verdict,
      effective: taken && isFirst(approvals, env, decision),
    },
    bytes,
  );
  const texts = verdict.messages.map(({ text }) => text);
  return { ...approvalAnswer(taken ? 200 : 400, verdict.code, verdict.status, texts), noted };
}

function isFirst({ ledger }: Approvals, env: Call['env'], { rnc, encf }: ApprovalDecision): boolean {
  return rnc !== null && encf !== null && ledger.approvalOf(env, rnc, encf) === null;
}

function verdictOf({ refusal }: ApprovalDecision): Verdict {
  if (refusal === null) return { code: '01', status: PROCESSED, messages: [], sequenceUsed: false };
  return { code: '02', status: REFUSED, messages: [{ code: '02', text: refusal }], sequenceUsed: false };
}

/** `mensaje`, in the singular, is a list. Source: technical description p.30. */
function approvalAnswer(status: number, codigo: string, estado: string, mensaje: string[]): Answer {
  return { status, body: { root: 'RespuestaAprobacionComercial', value: { mensaje, estado, codigo } } };
}
