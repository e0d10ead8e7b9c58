import { type Answer, type Call, type Handler, isUpload } from '../http/call.js';
import type { Simulation } from '../simulation.js';
import { decideCancellation } from '../verdicts/decide-cancellation.js';

type Cancellations = Pick<Simulation, 'ledger' | 'taxpayers' | 'signatures' | 'clock'>;

/** Cancellation of unused numbers (ANECF): free numbers are annulled, the answer names the others. */
export function receiveCancellation(cancellations: Cancellations): Handler {
  return (call) => {
    const { upload } = call;
    if (upload === null) return cancellationAnswer(400, null, '2', 'Rechazada', ['Archivo no válido']);
    if (!isUpload(upload)) return upload;
    return receive(cancellations, call, upload.filename, upload.bytes);
  };
}

function receive(cancellations: Cancellations, { env, fault }: Call, filename: string, bytes: Buffer): Answer {
  const now = cancellations.clock();
  const decision = decideCancellation(cancellations, { env, filename, bytes, now });
  const forced = fault?.kind === 'verdict' ? fault.verdict : null;
  const verdict = forced ?? decision.verdict;
  const annulled = forced && forced.code !== '1' ? null : decision.annulled;
  const noted = cancellations.ledger.note(
    {
      operation: 'anulacionrangos',
      env,
      rnc: decision.rnc,
      buyer: null,
      encf: null,
      filename,
      receivedAt: now.getTime(),
      trackId: null,
      verdict,
      decidedAt: now.getTime(),
      heldBy: null,
      effective: annulled !== null,
      reference: null,
      annulled,
    },
    bytes,
  );
  const texts = verdict.messages.map(({ text }) => text);
  const status = verdict.code === '2' ? 400 : 200;
  return { ...cancellationAnswer(status, decision.rnc, verdict.code, verdict.status, texts), noted };
}

function cancellationAnswer(
  status: number,
  rnc: string | null,
  codigo: string,
  nombre: string,
  mensajes: string[],
): Answer {
  return { status, body: { root: 'RespuestaAnulacionRango', value: { rnc, codigo, nombre, mensajes } } };
}
