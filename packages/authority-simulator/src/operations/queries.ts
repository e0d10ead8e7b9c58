import { type Answer, type Call, type Handler, sentenceAnswer } from '../http/call.js';
import type { DocumentFacts } from '../ledger/document-facts.js';
import { isDecided, presentVerdict, type Submission } from '../ledger/submission.js';
import { mayActFor } from '../ledger/taxpayer-register.js';
import type { Simulation } from '../simulation.js';
import { TEXTS } from '../verdicts/texts.js';
import { IN_PROCESS, type Message, NOT_FOUND, statusWord, type Verdict } from '../verdicts/verdict.js';
import { resultDate, trackIdDate } from '../wire-dates.js';

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
function numericMessages(messages: readonly Message[]): { valor: string; codigo: number }[] | null {
  if (messages.length === 0) return null;
  return messages.map(({ code, text }) => ({ valor: text, codigo: Number(code) || 0 }));
}

type StateQuery = Pick<Simulation, 'ledger' | 'facts' | 'taxpayers' | 'clock'>;

const CODE_NEEDED = 'Para consultar el estado de esta factura, es necesario completar el campo Cod_Seguridad.';

/**
 * State of an e-CF by its data, for its issuer or its buyer. A summary's code is obligatory; whatever else is given has
 * to fit. A conditional acceptance shows as such only for a summary. Source: technical description pp.21-24.
 */
export function queryState(services: StateQuery): Handler {
  return ({ env, query, holder, fault }) => {
    const rnc = query.get('rncemisor', 'rnc_emisor');
    const encf = query.get('ncfelectronico', 'encf')?.toUpperCase() ?? null;
    if (rnc === null) return sentenceAnswer(400, 'El campo RNC Emisor es requerido.');
    if (encf === null) return sentenceAnswer(400, 'El campo NCF Electronico es requerido.');
    const code = query.get('codigoseguridad', 'cod_seguridad');
    if (encf.startsWith('E32') && code === null) return sentenceAnswer(400, CODE_NEEDED);
    const submission = latestDecided(services, env, rnc, encf);
    const facts = submission && readable(services, submission);
    const buyer = query.get('rnccomprador', 'rnc_comprador');
    const fits =
      facts &&
      (code === null || facts.securityCode === code) &&
      (buyer === null || facts.buyer === buyer) &&
      maySee(services, holder ?? '', rnc, facts.buyer);
    if (!submission || !fits) return stateAnswer(rnc, encf, NOT_FOUND, null);
    return stateAnswer(rnc, encf, forced(fault, asShown(submission)), facts);
  };
}

/** The document that holds the number, else the latest one that was decided. */
export function latestDecided(
  { ledger, clock }: Pick<Simulation, 'ledger' | 'clock'>,
  env: Submission['env'],
  rnc: string,
  encf: string,
): Submission | null {
  const now = clock().getTime();
  const decided = ledger.numbers.of(env, rnc, encf).filter((submission) => isDecided(submission, now));
  return decided.find((submission) => submission.effective) ?? decided.at(-1) ?? null;
}

/** Facts of a document; null for one that was refused because it cannot be read. */
function readable({ facts }: StateQuery, submission: Submission): DocumentFacts | null {
  return submission.encf === null ? null : facts.of(submission);
}

function maySee({ taxpayers }: StateQuery, holder: string, issuer: string, buyer: string | null): boolean {
  return mayActFor(taxpayers, holder, issuer) || (buyer !== null && mayActFor(taxpayers, holder, buyer));
}

function asShown({ operation, verdict }: Submission): Verdict {
  if (verdict.code !== '4' || operation === 'recepcionfc') return verdict;
  return { ...verdict, code: '1', status: statusWord('1') ?? '' };
}

function stateAnswer(rnc: string, encf: string, { code, status }: Verdict, facts: DocumentFacts | null): Answer {
  const value = {
    codigo: Number(code),
    estado: status,
    rncEmisor: rnc,
    ncfElectronico: encf,
    montoTotal: Number(facts?.total ?? 0),
    totalITBIS: Number(facts?.itbis ?? 0),
    fechaEmision: facts?.issueDate ?? null,
    fechaFirma: facts?.signedAt ?? null,
    rncComprador: facts?.buyer ?? null,
    codigoSeguridad: facts?.securityCode ?? null,
    idExtranjero: facts?.foreignBuyer ?? null,
  };
  return { status: 200, body: { root: 'RespuestaConsultaEstado', value } };
}

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

const NOT_DELEGATED =
  'El RNC del token no está autorizado a consultar el trackid de este e-NCF, favor verificar que se encuentre delegado por el emisor y volver a intentarlo.';

/** All trackIds of a number, oldest first, for its issuer. Texts: technical description p.26. */
export function queryTrackIds({
  ledger,
  taxpayers,
  clock,
}: Pick<Simulation, 'ledger' | 'taxpayers' | 'clock'>): Handler {
  return ({ env, query, holder, fault }) => {
    const rnc = query.get('rncemisor', 'rnc_emisor');
    const encf = query.get('encf')?.toUpperCase() ?? null;
    const refusal = refusalOf(rnc, encf);
    if (refusal !== null || rnc === null || encf === null) return sentenceAnswer(400, refusal ?? '');
    if (!mayActFor(taxpayers, holder ?? '', rnc)) return sentenceAnswer(400, NOT_DELEGATED);
    const found = ledger.numbers.of(env, rnc, encf).filter((submission) => submission.trackId !== null);
    const now = clock().getTime();
    return trackIdAnswer(
      found.map((submission) => ({
        trackId: submission.trackId,
        estado: fault?.kind === 'verdict' ? fault.verdict.status : statusOf(submission, now),
        fechaRecepcion: trackIdDate(new Date(submission.receivedAt)),
      })),
    );
  };
}

function refusalOf(rnc: string | null, encf: string | null): string | null {
  if (rnc === null) return 'El campo RNC Emisor es requerido.';
  if (encf === null) return 'El campo ENCF es requerido.';
  if (!/^([0-9]{9}|[0-9]{11})$/.test(rnc)) return 'La longitud del RNC Emisor es inválida.';
  if (encf.length !== 13) return 'La longitud del ENCF es inválida.';
  return /^E[0-9]{12}$/.test(encf) ? null : 'El ENCF es inválido.';
}

/** This service writes the state of an undecided document with a small p. */
function statusOf(submission: Submission, now: number): string {
  const { code, status } = presentVerdict(submission, now);
  return code === '3' ? 'En proceso' : status;
}

/** A result is a list; no result is a single object. Source: the documented shape and field reports. */
function trackIdAnswer(details: readonly unknown[]): Answer {
  if (details.length > 0) {
    return { status: 200, body: { root: 'ArrayOfTrackingDetalle', item: 'TrackingDetalle', value: details } };
  }
  const value = { trackId: null, estado: 'TrackId no encontrado.', fechaRecepcion: null };
  return { status: 200, body: { root: 'TrackingDetalle', value } };
}
