import type { AnswerReader } from '../answers/answer-reader.js';
import { field, textField } from '../answers/answer-value.js';
import type { SubmissionReceipt } from '../answers/verdicts.js';

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
