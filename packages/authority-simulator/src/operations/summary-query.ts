import { mayActFor } from '../authentication/delegation.js';
import { type Handler, sentenceAnswer } from '../http/call.js';
import type { Submission } from '../ledger/submission.js';
import type { Simulation } from '../simulation.js';
import { TEXTS } from '../verdicts/texts.js';
import { NOT_FOUND } from '../verdicts/verdict.js';
import { forced, numericMessages } from './result-query.js';

/** The refusal of a repeat is not a verdict on the combination. */
function isRefusedRepeat({ verdict }: Submission): boolean {
  return verdict.messages.some(({ text }) => text === TEXTS.usedCombination.text);
}

/** State of a consumer summary by number and security code, for its issuer. Source: technical description pp.17-18. */
export function querySummary({
  ledger,
  facts,
  taxpayers,
}: Pick<Simulation, 'ledger' | 'facts' | 'taxpayers'>): Handler {
  return ({ env, query, holder, fault }) => {
    const rnc = query.get('rnc_emisor', 'rncemisor');
    const encf = query.get('encf')?.toUpperCase() ?? null;
    const code = query.get('cod_seguridad_ecf', 'codigoseguridad');
    if (rnc === null) return sentenceAnswer(400, 'El campo RNC_Emisor es requerido.');
    if (encf === null) return sentenceAnswer(400, 'El campo ENCF es requerido.');
    if (code === null) return sentenceAnswer(400, 'El campo Cod_Seguridad_eCF es requerido.');
    const fits = (submission: Submission): boolean =>
      submission.operation === 'recepcionfc' &&
      facts.of(submission).securityCode === code &&
      !isRefusedRepeat(submission);
    const summaries = mayActFor(taxpayers, holder ?? '', rnc) ? ledger.numbers.of(env, rnc, encf).filter(fits) : [];
    const submission = summaries.find((summary) => summary.effective) ?? summaries.at(-1) ?? null;
    const verdict = submission ? forced(fault, submission.verdict) : NOT_FOUND;
    const value = {
      rnc,
      encf,
      secuenciaUtilizada: verdict.sequenceUsed,
      codigo: verdict.code,
      estado: verdict.status,
      mensajes: numericMessages(verdict.messages),
    };
    return { status: 200, body: { root: 'RespuestaConsultaRFCE', value } };
  };
}
