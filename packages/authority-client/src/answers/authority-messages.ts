import { storableText } from '@ecf/domain';
import { type AnswerValue, field, isFields, textField, textOf } from './answer-value.js';
import type { AuthorityMessage } from './verdicts.js';

/** Bound of the messages read from an answer. */
export interface MessageLimits {
  readonly messages: number;
  /** Characters of each. */
  readonly text: number;
}

const LIMITS: MessageLimits = { messages: 500, text: 4_000 };

/** The field of messages or reasons, `mensajes` or `mensaje`; undefined if there is neither, null if it is null. */
export function messageField(value: AnswerValue | undefined): AnswerValue | undefined {
  const plural = field(value, 'mensajes');
  return plural === undefined ? field(value, 'mensaje') : plural;
}

/**
 * Messages as a plain list. An answer may have null, a text, one object, an array of either, or another wrapper (XML). The
 * filler of accepted documents (empty text, code 0) is dropped.
 */
export function readMessages(value: AnswerValue | undefined, limits = LIMITS): AuthorityMessage[] {
  return collect(value)
    .slice(0, limits.messages)
    .map(({ codigo, valor }) => ({
      codigo: storableText(codigo, limits.text),
      valor: storableText(valor, limits.text),
    }));
}

function collect(value: AnswerValue | undefined): AuthorityMessage[] {
  if (Array.isArray(value)) return value.flatMap(collect);
  if (!isFields(value)) {
    const text = textOf(value);
    return text === null ? [] : [message('', text)];
  }
  if (field(value, 'codigo') === undefined && field(value, 'valor') === undefined) {
    return Object.values(value).flatMap(collect);
  }
  const codigo = textField(value, 'codigo') ?? '';
  const valor = textField(value, 'valor') ?? '';
  return valor === '' && (codigo === '' || codigo === '0') ? [] : [message(codigo, valor)];
}

function message(codigo: string, valor: string): AuthorityMessage {
  return { codigo, valor };
}
