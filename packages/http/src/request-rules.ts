import type { IncomingMessage } from 'node:http';
import { ApiError } from '@ecf/kit';

const CLOSE = { headers: { connection: 'close' } };

/**
 * Finds the fault in the head of a request; null if there is none. Node would refuse most of these without a body.
 * `Upgrade` is ignored, as a server may.
 * Source: RFC 9112 sections 3.2 and 6.1, RFC 9110 section 10.1.1.
 */
export function requestProblem(req: IncomingMessage): ApiError | null {
  const { headers, httpVersionMinor } = req;
  const coding = headers['transfer-encoding'];
  if (coding !== undefined && coding.trim().toLowerCase() !== 'chunked')
    return new ApiError(
      415,
      'unsupported_media_type',
      'Send the body as it is, or in chunks, without other Transfer-Encoding.',
      CLOSE,
    );
  if (timesNamed(req, 'host') > 1) return new ApiError(400, 'bad_request', 'Send the header Host once.', CLOSE);
  if (httpVersionMinor !== 1) return null;
  if (headers.host === undefined) return new ApiError(400, 'bad_request', 'The header Host is missing.', CLOSE);
  if (headers.expect !== undefined && !/^100-continue$/i.test(headers.expect.trim()))
    return new ApiError(
      417,
      'expectation_failed',
      'The server supports only 100-continue in the header Expect; send the request without this header.',
      CLOSE,
    );
  return null;
}

/** Counts the header lines of this name (in lower case). */
function timesNamed({ rawHeaders }: IncomingMessage, name: string): number {
  return rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === name).length;
}

/** The answer to CONNECT. It names no resource, so `Allow` lists the methods of all routes. */
export function connectRefused(): ApiError {
  return new ApiError(405, 'method_not_allowed', 'This server is not a proxy and has no method CONNECT.', {
    headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE' },
  });
}
