import type { IncomingMessage } from 'node:http';
import { JsonRefused, parseJson } from '@ecf/ecf-xml';
import { ApiError } from '@ecf/service-kit/errors';
import { bodyTooLarge, maxBodyBytesOf } from '@ecf/service-kit/http';

/**
 * Reads the whole body, up to the limit of the app (413 above it). The rest of a body that is too large is read and
 * dropped, so that the caller can read the answer.
 */
export function readBody(req: IncomingMessage): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError(415, 'unsupported_media_type', 'Send the body without content encoding.');
  }
  const max = maxBodyBytesOf(req);
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length <= max) return void chunks.push(chunk);
      req.off('data', onData).resume();
      reject(bodyTooLarge(max));
    };
    req.on('data', onData);
    req.once('end', () => resolve(Buffer.concat(chunks)));
    for (const lost of ['aborted', 'error']) req.once(lost, () => reject(incomplete()));
  });
}

function incomplete(): ApiError {
  return new ApiError(400, 'bad_request', 'The request did not arrive completely; send it again.');
}

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
