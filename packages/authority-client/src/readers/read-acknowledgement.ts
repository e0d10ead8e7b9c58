import { parseXml } from '@ecf/ecf-xml';
import type { AnswerReader } from '../answers/answer-reader.js';
import type { DeliveryAnswer } from '../answers/verdicts.js';

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
