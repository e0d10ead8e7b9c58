import { parseXml } from '@ecf/ecf-xml';
import type { AnswerReader, ReadableAnswer } from '../answers/answer-reader.js';
import { type AnswerValue, textField } from '../answers/answer-value.js';
import { messageField, readMessages } from '../answers/authority-messages.js';
import { fold, plainCode } from '../answers/authority-texts.js';
import type { ApprovalDeliveryAnswer, ApprovalVerdict, AuthorityMessage, DeliveryAnswer } from '../answers/verdicts.js';
import { otherDocument } from './documents.js';

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

/**
 * Status 200 accepts and 400 refuses; the body is free (contract section 17). The reason of a refusal is in its messages, or
 * else it is the unchanged text. A page of HTML is neither.
 */
export const readApprovalDelivery: AnswerReader<ApprovalDeliveryAnswer> = (answer) => {
  if (isMarkup(answer)) return null;
  if (answer.status >= 200 && answer.status < 300)
    return { verdict: { accepted: !saysNo(answer), messages: readMessages(messageField(answer.value)) } };
  return answer.status === 400 ? { verdict: { accepted: false, messages: readMessages(reasonsOf(answer)) } } : null;
};

function reasonsOf({ text, value }: ReadableAnswer): AnswerValue {
  const reasons = messageField(value);
  if (reasons !== undefined) return reasons;
  return typeof value === 'string' || Array.isArray(value) ? value : text;
}

function isMarkup({ text, value }: ReadableAnswer): boolean {
  return text.trim().startsWith('<') && (value === undefined || /<(?:html|body)[\s>]/i.test(text));
}

/** Some receivers answer a refusal with 200 and say so in the body. */
function saysNo({ value }: ReadableAnswer): boolean {
  const code = fold(textField(value, 'codigo') ?? '');
  return code === 'error' || fold(textField(value, 'estado') ?? '').includes('rechazad');
}

/**
 * Accepts any well-formed document with root ARECF, with or without declaration, for any content type and status. Also
 * accepts any other body of a success, so that it can be stored as an invalid acknowledgement.
 */
export const readAcknowledgement: AnswerReader<DeliveryAnswer> = ({ status, bytes }) => {
  if (bytes.length === 0) return null;
  const success = status >= 200 && status < 300;
  return success || hasItsRoot(bytes) ? { verdict: { acknowledgement: bytes } } : null;
};

function hasItsRoot(bytes: Uint8Array): boolean {
  try {
    return parseXml(bytes).rootName === 'ARECF';
  } catch {
    return false;
  }
}
