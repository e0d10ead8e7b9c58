import { randomUUID } from 'node:crypto';
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';
import { errorBody } from '@ecf/contracts';
import { ApiError } from '@ecf/kit';

/** The answer to something that never became a request. */
export interface ClientErrorAnswer {
  readonly status: number;
  readonly code: string;
  readonly request_id: string;
}

/** Milliseconds for the peer to read the answer before the connection is closed. */
const CLOSE_AFTER_MS = 2_000;
const LATE = 'ERR_HTTP_REQUEST_TIMEOUT';

/**
 * Handles Node's event `clientError`: bytes that are not HTTP, headers that are too large, a request that is not
 * complete in time. The answer is written only where it belongs to the request at fault, never in place of the answer
 * to another one.
 *
 * @param latest the response to the last request of the connection
 * @returns what was answered, if anything
 */
export function answerClientError(
  error: NodeJS.ErrnoException,
  socket: Duplex,
  latest: ServerResponse | undefined,
): ClientErrorAnswer | null {
  const problem = problemOf(error);
  if (problem === null) {
    socket.destroy();
    return null;
  }
  // After the refused bytes, the parser also fails on all later ones.
  if (!socket.writable) return null;
  const incomplete = latest?.req.complete === false;
  if (latest === undefined || (latest.writableFinished && !incomplete)) return writeError(problem, socket);
  if (incomplete && latest.socket === socket && !latest.headersSent) return writeError(problem, socket);
  if (latest.writableFinished || latest.headersSent) latest.once('close', () => socket.end());
  else latest.setHeader('connection', 'close');
  if (incomplete) closeLater(socket);
  return null;
}

/** Writes an error without a response object and closes the connection. */
export function writeError(error: ApiError, socket: Duplex): ClientErrorAnswer {
  const { status, code } = error;
  const requestId = randomUUID();
  const body = JSON.stringify(errorBody(error, requestId));
  const headers = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
    ...error.headers,
  });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines}\r\n${body}`);
  closeLater(socket);
  return { status, code, request_id: requestId };
}

/** Null if the connection itself failed. */
function problemOf({ code }: NodeJS.ErrnoException): ApiError | null {
  if (code === LATE)
    return new ApiError(408, 'request_timeout', 'The request did not arrive completely in time; send it again.');
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ApiError(431, 'headers_too_large', 'The headers are larger than 16 KiB.');
  if (code?.startsWith('HPE_')) return new ApiError(400, 'bad_request', 'This is not well-formed HTTP.');
  return null;
}

function closeLater(socket: Duplex): void {
  const timer = setTimeout(() => socket.destroy(), CLOSE_AFTER_MS);
  socket.once('close', () => clearTimeout(timer));
}
