import type { AnswerReader, ReadableAnswer } from '../answer-reader.js';
import { textField } from '../answer-value.js';
import { messageField, readMessages } from '../authority-messages.js';
import { fold } from '../authority-texts.js';
import type { ApprovalDeliveryAnswer } from '../verdicts.js';

/**
 * Status 200 is a yes and 400 a no, the body is free (contract section 17). A page of HTML is neither, and a 400
 * without a readable body may come from a proxy on the way.
 */
export const readApprovalDelivery: AnswerReader<ApprovalDeliveryAnswer> = (answer) => {
  if (isMarkup(answer)) return null;
  const messages = readMessages(messageField(answer.value));
  if (answer.status >= 200 && answer.status < 300) return { verdict: { accepted: !saysNo(answer), messages } };
  if (answer.status !== 400 || typeof answer.value !== 'object' || answer.value === null) return null;
  return { verdict: { accepted: false, messages } };
};

function isMarkup({ text, value }: ReadableAnswer): boolean {
  return text.trim().startsWith('<') && (value === undefined || /<(?:html|body)[\s>]/i.test(text));
}

/** Some receivers answer a refusal with 200 and say so in the body. */
function saysNo({ value }: ReadableAnswer): boolean {
  const code = fold(textField(value, 'codigo') ?? '');
  return code === 'error' || fold(textField(value, 'estado') ?? '').includes('rechazad');
}
