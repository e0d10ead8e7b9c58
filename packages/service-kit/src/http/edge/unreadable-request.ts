import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import { ApiError, errorBody } from '../errors.js';
import type { Connection } from './connection.js';

/** What was answered, by which id, and whom (address of the connection). */
export interface UnreadableRequest {
  readonly status: number;
  readonly code: string;
  readonly request_id: string;
  readonly sender: string;
}

/** What a server does about what is no request, or not one that it takes. */
export interface UnreadableOptions {
  /** Told of each that is answered; of those that are not, the connection tells. */
  onUnreadableRequest?: (unreadable: UnreadableRequest) => void;
  /** Counts each that is answered towards the rate of its address; throws the ApiError to answer in its place. */
  limitUnreadable?: (address: string) => void;
}

const LATE = 'ERR_HTTP_REQUEST_TIMEOUT';

/** Whether the server gave up waiting for the rest of a request. */
export function isLate(error: NodeJS.ErrnoException): boolean {
  return error.code === LATE;
}

/** What to answer in place of the parser's error. */
export function unreadableProblem({ code }: NodeJS.ErrnoException): ApiError {
  if (code === LATE)
    return new ApiError(408, 'request_timeout', 'The request did not arrive completely in time; send it again.');
  if (code === 'HPE_HEADER_OVERFLOW')
    return new ApiError(431, 'headers_too_large', 'The headers are larger than 16 KiB.');
  return new ApiError(400, 'bad_request', 'This is not well-formed HTTP.');
}

/**
 * Gives what cannot be parsed, or does not arrive in time, the error body too, written by hand, and closes the connection. Where
 * another request is being answered there, or this one was answered before it was complete, nothing is written: what is under
 * way ends first, as an error in place of it would say of what happened that it did not.
 */
export function answerUnreadable(problem: ApiError, connection: Connection, options: UnreadableOptions): void {
  const { answer, arriving, socket } = connection;
  if (connection.closing) return;
  if (!socket.writable) socket.destroy();
  else if (answer === null ? arriving === null : answer.req === arriving && !answer.headersSent)
    connection.refuse(errorAnswer(withinRate(problem, connection.address, options), connection.address, options));
  // An answer that is begun, whose rest may wait for the rest of its request.
  else if (answer?.req === arriving && answer?.writableEnded === false) socket.destroy();
  else connection.closeUnread();
}

/** The problem, or that there are too many of its sender. */
function withinRate(problem: ApiError, sender: string, { limitUnreadable }: UnreadableOptions): ApiError {
  try {
    limitUnreadable?.(sender);
    return problem;
  } catch (overRate) {
    if (overRate instanceof ApiError) return overRate;
    throw overRate;
  }
}

function errorAnswer(error: ApiError, sender: string, { onUnreadableRequest }: UnreadableOptions): string {
  const requestId = randomUUID();
  const { status, code } = error;
  onUnreadableRequest?.({ status, code, request_id: requestId, sender });
  const body = JSON.stringify(errorBody(error, requestId));
  const headers = Object.entries({
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    'x-request-id': requestId,
    connection: 'close',
    ...error.headers,
  });
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers.map(([n, v]) => `${n}: ${v}\r\n`).join('')}\r\n${body}`;
}
