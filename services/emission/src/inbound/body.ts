import { JsonRefused, parseJson } from '@ecf/ecf-xml';
import { ApiError } from '@ecf/service-kit/errors';

/** Parses a body as JSON and keeps numbers as text. 400 names the place of an error. */
export function parsed(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    const code = error.code === 'not_utf8' ? 'not_utf8' : 'invalid_json';
    throw new ApiError(400, code, error.message, { messages: [error.message], faults: [], cause: error });
  }
}
