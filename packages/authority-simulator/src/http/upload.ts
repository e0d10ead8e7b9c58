import { type Answer, type Call, sentenceAnswer, textAnswer } from './exchange.js';
import { readMultipart } from './multipart.js';

/** The document of a call: the file part `xml`. */
export interface Upload {
  readonly filename: string;
  readonly bytes: Buffer;
}

const NO_UPLOAD = '<html><head><title>ERROR</title></head><body>ERROR:</body></html>';

/**
 * Reads the document in a multipart body. The authority's front end, not the service, answers bodies that it cannot read:
 * with HTML, or with a sentence for a body of unknown length.
 *
 * @returns null when there is a multipart body without the file part `xml`
 */
export function readUpload(call: Call): Upload | Answer | null {
  if (call.headers['content-length'] === undefined) return sentenceAnswer(400, 'Multipart cannot be empty');
  const type = call.headers['content-type'];
  const parts = readMultipart(Array.isArray(type) ? type[0] : type, call.body);
  if (parts === 'not_multipart') return textAnswer(415, '');
  if (!Array.isArray(parts)) return textAnswer(400, NO_UPLOAD, 'text/html; charset=utf-8');
  const part = parts.find((each) => each.name.toLowerCase() === 'xml' && each.filename !== null);
  return part ? { filename: part.filename ?? '', bytes: part.body } : null;
}

export function isUpload(value: Upload | Answer): value is Upload {
  return 'bytes' in value;
}

export const HTML_REFUSAL: Answer = textAnswer(400, NO_UPLOAD, 'text/html; charset=utf-8');
