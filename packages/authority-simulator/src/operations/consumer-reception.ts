import {
  type Answer,
  type Call,
  documentHandler,
  type Handler,
  HTML_REFUSAL,
  type Structured,
  type Upload,
} from '../http/call.js';
import type { Simulation } from '../simulation.js';
import { decideRfce } from '../verdicts/decide-rfce.js';
import { takesNumber } from '../verdicts/sequence.js';
import { TEXTS } from '../verdicts/texts.js';
import { rejected, type Verdict } from '../verdicts/verdict.js';

type ConsumerReception = Pick<Simulation, 'ledger' | 'taxpayers' | 'facts' | 'certification' | 'signatures' | 'clock'>;

/** The service's temporary failure: the same number may be sent again. */
export const TRY_AGAIN: Answer = {
  status: 200,
  body: summaryBody(rejected([TEXTS.tryAgain], false), null),
};

/** Reception of consumer summaries: the verdict is the answer. A rejection comes with HTTP 400. */
export function receiveSummary(reception: ConsumerReception): Handler {
  return documentHandler(HTML_REFUSAL, (call, document) => receive(reception, call, document));
}

function receive(reception: ConsumerReception, { env, fault }: Call, { filename, bytes }: Upload): Answer {
  const { ledger, clock } = reception;
  const now = clock();
  const decision = decideRfce(reception, { env, filename, bytes, now });
  const verdict = fault?.kind === 'verdict' ? fault.verdict : decision.verdict;
  const noted = ledger.note(
    {
      operation: 'recepcionfc',
      env,
      rnc: decision.rnc,
      encf: decision.encf,
      filename,
      receivedAt: now.getTime(),
      verdict,
      effective: takesNumber(ledger.numbers, env, decision, verdict),
    },
    bytes,
  );
  reception.certification.decided(noted);
  const passing = verdict.messages.some(({ code }) => code === TEXTS.tryAgain.code);
  return {
    status: verdict.code === '2' && !passing ? 400 : 200,
    body: summaryBody(verdict, passing ? null : decision.encf),
    noted,
  };
}

/** Here `codigo` is a number and the messages' is text: the reverse of the result query. */
function summaryBody({ code, status, messages, sequenceUsed }: Verdict, encf: string | null): Structured {
  const value = {
    codigo: Number(code),
    estado: status,
    mensajes: messages.map((message) => ({ codigo: message.code, valor: message.text })),
    encf,
    secuenciaUtilizada: sequenceUsed,
  };
  return { root: 'Respuesta', value };
}
