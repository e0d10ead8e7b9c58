import type { IncomingMessage, ServerResponse } from 'node:http';
import { JsonRefused, parseJson } from '@ecf/ecf-xml';
import { ApiError } from '@ecf/service-kit/http';

/**
 * The whole body of a request as bytes; its size was bounded before. Does not resolve when the request was answered
 * meanwhile (too large), rejects when the caller went away.
 */
export function readBody(req: IncomingMessage, res: ServerResponse): Promise<Buffer> {
  const encoding = req.headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity') {
    throw new ApiError(415, 'unsupported_media_type', 'Send the body without content encoding.');
  }
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      if (!res.headersSent) resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks));
    });
    for (const lost of ['aborted', 'error'])
      req.on(lost, () => {
        if (!res.headersSent) reject(incomplete());
      });
  });
}

function incomplete(): ApiError {
  return new ApiError(400, 'bad_request', 'The request did not arrive completely; send it again.');
}

/** A body as JSON, its numbers as their text; 400 says where it is none. */
export function parsed(body: Buffer): unknown {
  try {
    return parseJson(body);
  } catch (error) {
    if (!(error instanceof JsonRefused)) throw error;
    const code = error.code === 'not_utf8' ? 'not_utf8' : 'invalid_json';
    throw new ApiError(400, code, error.message, { messages: [error.message], faults: [], cause: error });
  }
}
