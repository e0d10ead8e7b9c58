import type { AnswerReader, ReadableAnswer } from '../answers/answer-reader.js';
import { type AnswerValue, textField } from '../answers/answer-value.js';
import { messageField, readMessages } from '../answers/authority-messages.js';
import { fold } from '../answers/authority-texts.js';
import type { ApprovalDeliveryAnswer } from '../answers/verdicts.js';

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
