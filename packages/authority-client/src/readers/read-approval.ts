import type { AnswerReader } from '../answers/answer-reader.js';
import { textField } from '../answers/answer-value.js';
import { messageField, readMessages } from '../answers/authority-messages.js';
import { fold, plainCode } from '../answers/authority-texts.js';
import type { ApprovalVerdict, AuthorityMessage } from '../answers/verdicts.js';
import { otherDocument } from './other-document.js';

const STATUS_BY_WORD: Record<string, ApprovalVerdict['status']> = {
  'aprobacion comercial aprobada': 'Aceptado',
  'aprobacion comercial rechazada': 'Rechazado',
  aprobada: 'Aceptado',
  rechazada: 'Rechazado',
};
const CODES: Record<string, ApprovalVerdict['status']> = { '1': 'Aceptado', '2': 'Rechazado' };

/**
 * Code (`1`, `01`) and word must agree; a rejection also needs the field of its reasons (contract section 9). The documented
 * answer names no document; an answer that names one, also in a message, must name the submitted one.
 */
export function readApproval(queried: { encf: string }): AnswerReader<ApprovalVerdict> {
  return ({ value }) => {
    const codigo = textField(value, 'codigo');
    const estado = textField(value, 'estado');
    if (codigo === null || estado === null) return null;
    const status = STATUS_BY_WORD[fold(estado)];
    const code = plainCode(codigo);
    if (!status || CODES[code] !== status) return null;
    const reasons = messageField(value);
    if (status === 'Rechazado' && reasons === undefined) return null;
    const messages = readMessages(reasons);
    const other = otherDocument(queried, { encf: textField(value, 'encf') ?? numberNamed(messages, queried.encf) });
    if (other !== null) return other;
    const texts = messages.map((message) => fold(message.valor));
    return {
      verdict: {
        status,
        code,
        messages,
        alreadyAccepted: texts.some((text) => text.includes('ya habia sido cargada y aceptada previamente')),
        transient: texts.some((text) => text.startsWith('no fue posible procesar la aprobacion comercial')),
      },
    };
  };
}

/** The number that the messages are about: the queried one if they name it among others; null if they name none. */
function numberNamed(messages: readonly AuthorityMessage[], queried: string): string | null {
  const named = messages.flatMap(({ valor }) => valor.toUpperCase().match(/\bE\d{12}\b/g) ?? []);
  return named.includes(queried) ? queried : (named[0] ?? null);
}
