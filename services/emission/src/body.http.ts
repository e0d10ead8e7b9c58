import { JsonRefused, parseJson } from '@ecf/ecf-xml';
import { ApiError } from '@ecf/service-kit/errors';

/** The body of a signed document has one value; a few more are tolerated. A million would occupy the event loop. */
const MAX_VALUES = 1_000;

/** Parses the body of a signed document as JSON and keeps numbers as text. 400 names the place of an error. */
export function parsed(body: Buffer): unknown {
  try {
    return parseJson(body, (stated) => stated, MAX_VALUES);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    const code = error.code === 'not_utf8' ? 'not_utf8' : 'invalid_json';
    throw new ApiError(400, code, error.message, { cause: error });
  }
}
