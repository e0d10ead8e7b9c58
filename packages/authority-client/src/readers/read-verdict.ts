import type { AnswerReader, ReadableAnswer } from '../answers/answer-reader.js';
import { booleanField, textField } from '../answers/answer-value.js';
import { isoDate } from '../answers/authority-dates.js';
import { messageField, readMessages } from '../answers/authority-messages.js';
import { refusedQuery, statusOf } from '../answers/authority-texts.js';
import type { AuthorityVerdict } from '../answers/verdicts.js';
import { otherDocument, type Queried } from './other-document.js';

/** The verdict of a query. */
export function readVerdict(queried: Queried): AnswerReader<AuthorityVerdict> {
  return (answer) => {
    const verdict = verdictOf(answer);
    if (verdict) return otherDocument(queried, verdict) ?? { verdict };
    const reason = refusedQuery(answer.value, answer.text);
    return reason === null ? null : { refused: 'query_refused', reason };
  };
}

/** The verdict on a submission, which must be a decision: accepted, conditional or rejected (contract section 5). */
export function readDecision(queried: Queried): AnswerReader<AuthorityVerdict> {
  return (answer) => {
    const verdict = verdictOf(answer);
    if (!verdict || verdict.status === 'EnProceso' || verdict.status === 'No encontrado') return null;
    return otherDocument(queried, verdict) ?? { verdict };
  };
}

/**
 * A verdict needs code and word, in agreement. A rejection also needs the field of its reasons. A proxy's error body may
 * have a code and a text, and must not be read as a rejection.
 */
function verdictOf({ value }: ReadableAnswer): AuthorityVerdict | null {
  const state = statusOf(textField(value, 'codigo'), textField(value, 'estado'));
  if (!state) return null;
  const reasons = messageField(value);
  if (state.status === 'Rechazado' && reasons === undefined) return null;
  return {
    ...state,
    messages: readMessages(reasons),
    sequenceUsed: booleanField(value, 'secuenciautilizada'),
    trackId: textField(value, 'trackid'),
    dateReceived: isoDate(textField(value, 'fecharecepcion')),
    rnc: textField(value, 'rnc'),
    encf: textField(value, 'encf'),
  };
}
