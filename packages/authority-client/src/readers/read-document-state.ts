import type { AnswerReader } from '../answers/answer-reader.js';
import { field, textField } from '../answers/answer-value.js';
import { isoDate } from '../answers/authority-dates.js';
import { refusedQuery, statusOf } from '../answers/authority-texts.js';
import type { DocumentState } from '../answers/verdicts.js';
import { otherDocument } from './other-document.js';

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
