import { type Answer, type Call, documentHandler, type Handler, type Upload } from '../http/call.js';
import type { Simulation } from '../simulation.js';
import { decideEcf } from '../verdicts/decide-ecf.js';
import { takesNumber } from '../verdicts/sequence.js';

type Reception = Pick<
  Simulation,
  'ledger' | 'taxpayers' | 'facts' | 'certification' | 'signatures' | 'processingMs' | 'clock' | 'newId'
>;

/**
 * Reception of e-CF: whatever the document is, there is a trackId. The verdict is made at arrival, against what was
 * final at that moment, and is seen after the processing time.
 */
export function receiveEcf(reception: Reception): Handler {
  const missing = refusal('ArchivoRequerido', 'Debe enviar el archivo XML en el campo xml.');
  return documentHandler(missing, (call, document) => receive(reception, call, document));
}

function receive(reception: Reception, { env, fault }: Call, { filename, bytes }: Upload): Answer {
  const { ledger, processingMs, clock, newId } = reception;
  const now = clock();
  const trackId = newId();
  const decision = decideEcf(reception, { env, filename, bytes, now });
  const verdict = fault?.kind === 'verdict' ? fault.verdict : decision.verdict;
  const noted = ledger.note(
    {
      operation: 'recepcion',
      env,
      rnc: decision.rnc,
      encf: decision.encf,
      filename,
      receivedAt: now.getTime(),
      trackId,
      verdict,
      decidedAt: now.getTime() + processingMs,
      heldBy: fault?.kind === 'processing' ? fault.id : null,
      effective: takesNumber(ledger.numbers, env, decision, verdict),
      reference: decision.reference,
    },
    bytes,
  );
  reception.certification.decided(noted);
  const value = { trackId, error: null, mensaje: null };
  return { status: 200, body: { root: 'RespuestaRecepcion', value }, noted };
}

function refusal(error: string, mensaje: string): Answer {
  return { status: 400, body: { root: 'RespuestaRecepcion', value: { trackId: null, error, mensaje } } };
}
