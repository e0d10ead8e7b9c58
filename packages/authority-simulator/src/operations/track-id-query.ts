import { mayActFor } from '../authentication/delegation.js';
import { type Answer, type Handler, sentenceAnswer } from '../http/call.js';
import { presentVerdict, type Submission } from '../ledger/submission.js';
import type { Simulation } from '../simulation.js';
import { trackIdDate } from '../wire-dates.js';

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
