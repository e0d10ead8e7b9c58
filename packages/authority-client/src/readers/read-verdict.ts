import type { AnswerReader, ReadableAnswer } from '../answer-reader.js';
import { booleanField, textField } from '../answer-value.js';
import { isoDate } from '../authority-dates.js';
import { messageField, readMessages } from '../authority-messages.js';
import { refusedQuery, statusOf } from '../authority-texts.js';
import type { AuthorityVerdict } from '../verdicts.js';

/** What was asked about; an answer that names something else is no answer to it. */
export interface Asked {
  encf?: string;
  trackId?: string;
}

/** The verdict of a query. */
export function readVerdict(asked: Asked): AnswerReader<AuthorityVerdict> {
  return (answer) => {
    const verdict = verdictOf(answer, asked);
    if (verdict) return { verdict };
    const reason = refusedQuery(answer.value, answer.text);
    return reason === null ? null : { refused: 'query_refused', reason };
  };
}

/** The verdict on a submission, which must be a decision: accepted, conditional or rejected (contract section 5). */
export function readDecision(asked: Asked): AnswerReader<AuthorityVerdict> {
  return (answer) => {
    const verdict = verdictOf(answer, asked);
    if (!verdict || verdict.status === 'EnProceso' || verdict.status === 'No encontrado') return null;
    return { verdict };
  };
}

/**
 * A verdict needs code and word, in agreement. A rejection also needs the field of its reasons: a proxy's error body
 * may well have a code and a text, and nothing may be read as a rejection that is none.
 */
function verdictOf({ value }: ReadableAnswer, asked: Asked): AuthorityVerdict | null {
  const state = statusOf(textField(value, 'codigo'), textField(value, 'estado'));
  if (!state) return null;
  const reasons = messageField(value);
  if (state.status === 'Rechazado' && reasons === undefined) return null;
  const encf = textField(value, 'encf');
  const trackId = textField(value, 'trackid');
  if (contradicts(asked.encf, encf) || contradicts(asked.trackId, trackId)) return null;
  return {
    ...state,
    messages: readMessages(reasons),
    sequenceUsed: booleanField(value, 'secuenciautilizada'),
    trackId,
    dateReceived: isoDate(textField(value, 'fecharecepcion')),
    rnc: textField(value, 'rnc'),
    encf,
  };
}

/** True where the answer names another document than the one asked about. */
export function contradicts(asked: string | undefined, answered: string | null): boolean {
  return asked !== undefined && answered !== null && asked.toLowerCase() !== answered.toLowerCase();
}
