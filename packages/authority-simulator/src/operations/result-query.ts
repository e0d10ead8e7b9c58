import { type Answer, type Call, type Handler, sentenceAnswer } from '../http/call.js';
import { presentVerdict, type Submission } from '../ledger/submission.js';
import type { Simulation } from '../simulation.js';
import { IN_PROCESS, type Message, NOT_FOUND, type Verdict } from '../verdicts/verdict.js';
import { resultDate } from '../wire-dates.js';

/** Result of an e-CF by its trackId. */
export function queryResult({ ledger, clock }: Pick<Simulation, 'ledger' | 'clock'>): Handler {
  return ({ env, query, fault }) => {
    const trackId = query.get('trackid');
    if (trackId === null) return sentenceAnswer(400, 'El campo trackId es requerido.');
    const submission = ledger.byTrackId(env, trackId);
    const present = submission ? presentVerdict(submission, clock().getTime()) : NOT_FOUND;
    return resultAnswer(trackId, submission, submission ? forced(fault, present) : present);
  };
}

/** The verdict that a fault puts in the place of the real one. */
export function forced(fault: Call['fault'], verdict: Verdict): Verdict {
  if (fault === null) return verdict;
  return fault.kind === 'verdict' ? fault.verdict : IN_PROCESS;
}

/** Here `codigo` is text and the messages' is a number, and the date is American. */
function resultAnswer(trackId: string, submission: Submission | null, verdict: Verdict): Answer {
  const value = {
    trackId,
    codigo: verdict.code,
    estado: verdict.status,
    rnc: submission?.rnc ?? null,
    encf: submission?.encf ?? null,
    secuenciaUtilizada: verdict.sequenceUsed,
    fechaRecepcion: submission ? resultDate(new Date(submission.receivedAt)) : null,
    mensajes: numericMessages(verdict.messages),
  };
  return { status: 200, body: { root: 'RespuestaConsultaTrackId', value } };
}

/** An empty list of messages becomes null; a code that is not a number becomes 0. */
export function numericMessages(messages: readonly Message[]): { valor: string; codigo: number }[] | null {
  if (messages.length === 0) return null;
  return messages.map(({ code, text }) => ({ valor: text, codigo: Number(code) || 0 }));
}
