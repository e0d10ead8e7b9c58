import { type Answer, type Call, documentHandler, type Handler, type Upload } from '../http/call.js';
import type { Simulation } from '../simulation.js';
import { decideCancellation } from '../verdicts/decide-cancellation.js';

type Cancellations = Pick<Simulation, 'ledger' | 'taxpayers' | 'signatures' | 'clock'>;

/** Cancellation of unused numbers (ANECF): free numbers are annulled, the answer names the others. */
export function receiveCancellation(cancellations: Cancellations): Handler {
  const missing = cancellationAnswer(400, null, '2', 'Rechazada', ['Archivo no válido']);
  return documentHandler(missing, (call, document) => receive(cancellations, call, document));
}

function receive(cancellations: Cancellations, { env, fault }: Call, { filename, bytes }: Upload): Answer {
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
      filename,
      receivedAt: now.getTime(),
      verdict,
      effective: annulled !== null,
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
