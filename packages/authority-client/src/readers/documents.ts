import type { AnswerReader, ReadableAnswer } from '../answers/answer-reader.js';
import { booleanField, field, records, textField } from '../answers/answer-value.js';
import { isoDate } from '../answers/authority-dates.js';
import { messageField, readMessages } from '../answers/authority-messages.js';
import { refusedQuery, statusOf, statusOfWord } from '../answers/authority-texts.js';
import type {
  AuthorityVerdict,
  DocumentState,
  SubmissionReceipt,
  TrackIdEntry,
  TrackIdList,
} from '../answers/verdicts.js';

/** The document of a query or a submission. An answer that names another one is not an answer to it. */
interface Queried {
  /** RNC of the issuer. */
  rnc?: string;
  encf?: string;
  trackId?: string;
}

/** The document that an answer names; null if it names none. */
type Named = { readonly [field in keyof Queried]: string | null };

/** The reading of an answer that names another document. */
interface OtherDocument {
  unknown: 'another_document';
  detail: string;
}

const WORDS: Record<keyof Queried, string> = { rnc: 'issuer', encf: 'eNCF', trackId: 'trackId' };
const LONGEST_NAME = 40;

/**
 * The reading of an answer that names another document than the queried one: it says nothing about that one. Null if no
 * named field contradicts the query; fields that the answer does not name are not compared.
 */
export function otherDocument(queried: Queried, named: Named): OtherDocument | null {
  const other = (['trackId', 'encf', 'rnc'] as const).flatMap((field) => {
    const [wanted, answered] = [queried[field], named[field]];
    if (wanted === undefined || answered === undefined || answered === null) return [];
    if (comparable(field, answered) === comparable(field, wanted)) return [];
    return [`${WORDS[field]} ${JSON.stringify(answered.slice(0, LONGEST_NAME))}, not ${wanted}`];
  });
  if (other.length === 0) return null;
  return { unknown: 'another_document', detail: `the answer is about another document: ${other.join('; ')}` };
}

/** An RNC may come with hyphens, or as a number that lost its zeros. */
function comparable(field: keyof Queried, text: string): string {
  return field === 'rnc' && /^[\d -]+$/.test(text)
    ? text.replace(/\D/g, '').replace(/^0+/, '')
    : text.trim().toLowerCase();
}

/** UUIDs in practice; anything longer or with blanks is some other text. */
export const TRACK_ID = /^[\w-]{1,64}$/;

/**
 * Reception's answer: a trackId, or an error with its text (contract section 3). A body without the field `trackId`, or
 * with neither trackId nor error, is not a receipt.
 */
export const readReceipt: AnswerReader<SubmissionReceipt> = ({ value }) => {
  if (field(value, 'trackid') === undefined) return null;
  const trackId = textField(value, 'trackid');
  const error = textField(value, 'error');
  const message = textField(value, 'mensaje');
  if (trackId === null ? error === null && message === null : !TRACK_ID.test(trackId)) return null;
  const messages = error === null && message === null ? [] : [{ codigo: error ?? '', valor: message ?? '' }];
  return { verdict: { received: trackId !== null, trackId, error, message, messages } };
};

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

/** The state query's answer has no messages; its number identifies it. */
export function readDocumentState(queried: { rnc: string; encf: string }): AnswerReader<DocumentState> {
  return ({ value, text }) => {
    const state = statusOf(textField(value, 'codigo'), textField(value, 'estado'));
    if (!state) {
      const reason = refusedQuery(value, text);
      return reason === null ? null : { refused: 'query_refused', reason };
    }
    if (state.status !== 'No encontrado' && field(value, 'ncfelectronico') === undefined) return null;
    const encf = textField(value, 'ncfelectronico');
    const issuerRnc = textField(value, 'rncemisor');
    const other = otherDocument(queried, { encf, rnc: issuerRnc });
    if (other !== null) return other;
    return {
      verdict: {
        ...state,
        issuerRnc,
        encf,
        buyerRnc: textField(value, 'rnccomprador'),
        foreignId: textField(value, 'idextranjero'),
        totalAmount: textField(value, 'montototal'),
        totalItbis: textField(value, 'totalitbis'),
        dateIssued: isoDate(textField(value, 'fechaemision')),
        dateSigned: isoDate(textField(value, 'fechafirma')),
        securityCode: textField(value, 'codigoseguridad'),
      },
    };
  };
}

/**
 * A list or one single record, states as words only; "not found" is such a record, or an empty list (section 8). The
 * documented records name no document; one that does has to name the queried one.
 */
export function readTrackIds(queried: { rnc: string; encf: string }): AnswerReader<TrackIdList> {
  return ({ status, value, text }) => {
    const reason = refusedQuery(value, text);
    if (reason !== null) return { refused: 'query_refused', reason };
    const rows = records(value, 'estado');
    if (!rows || (rows.length === 0 && status !== 200)) return null;
    const trackIds: TrackIdEntry[] = [];
    for (const row of rows) {
      const other = otherDocument(queried, {
        encf: textField(row, 'encf') ?? textField(row, 'ncfelectronico'),
        rnc: textField(row, 'rnc') ?? textField(row, 'rncemisor'),
      });
      if (other !== null) return other;
      const state = statusOfWord(textField(row, 'estado'));
      const trackId = textField(row, 'trackid');
      if (!state || (state !== 'No encontrado' && trackId === null)) return null;
      if (state === 'No encontrado' || trackId === null) continue;
      if (!TRACK_ID.test(trackId)) return null;
      trackIds.push({ trackId, status: state, dateReceived: isoDate(textField(row, 'fecharecepcion')) });
    }
    return { verdict: { found: trackIds.length > 0, trackIds } };
  };
}
