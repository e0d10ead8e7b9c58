import type { AuthorityMessage } from './number-reuse.js';
import { toIsoDominican } from './time/dominican-time.js';

/** `codigo` of the entries that the gateway itself adds to the messages of a document. */
export const GATEWAY_CODE = 'gateway';

/** Why a document waits: the authority limits calls (status 429), no answer came, or one that decides nothing. */
export type WaitingCause = 'taxpayer-limited' | 'service-limited' | 'no-answer' | 'odd-answer';

const CAUSES: Readonly<Record<WaitingCause, string>> = {
  'taxpayer-limited': 'The authority limits the calls of this taxpayer at present (status 429).',
  'service-limited': 'The authority limits the calls of all taxpayers at present (status 429).',
  'no-answer': 'No answer of the authority has come.',
  'odd-answer': 'The authority gave an answer that does not decide about the document.',
};

/** Says why a document waits and when the next try is; null if an operator has to decide first. */
export function waitingMessage(cause: WaitingCause, nextTryAt: Date | null): AuthorityMessage {
  const next =
    nextTryAt === null
      ? 'an operator has to decide what happens next'
      : `the next try is at ${toIsoDominican(nextTryAt)}`;
  return { codigo: GATEWAY_CODE, valor: `${CAUSES[cause]} The document is stored; ${next}.` };
}
