import { parseXml } from '@ecf/ecf-xml';
import type { AnswerReader } from '../answer-reader.js';
import type { DeliveryAnswer } from '../verdicts.js';

/** Any well-formed document with root ARECF, with or without declaration, whatever its content type and status. */
export const readAcknowledgement: AnswerReader<DeliveryAnswer> = ({ bytes }) => {
  try {
    return parseXml(bytes).rootName === 'ARECF' ? { verdict: { acknowledgement: bytes } } : null;
  } catch {
    return null;
  }
};
