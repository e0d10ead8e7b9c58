import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { currentTraceparent, traceIdIn } from './tracing.js';

const ALLOWED = /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}$/;
const HEADER = 'x-request-id';
/** Version 4, whose fixed bits keep the parts of it that are used from being zero. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/**
 * Keeps the caller's `x-request-id` where it is harmless (up to 128 letters, digits and `._:@/+=-`), else makes one;
 * sets it on request and answer, so that every later reader finds it in one place. The request gets a trace as well, see
 * {@link requestNames}.
 */
export function assignRequestId(req: IncomingMessage, res: ServerResponse, makeId: () => string = randomUUID): string {
  const given = req.headers[HEADER];
  const id = typeof given === 'string' && ALLOWED.test(given) ? given : makeId();
  req.headers[HEADER] = id;
  res.setHeader(HEADER, id);
  assignTrace(req, id);
  return id;
}

/**
 * The header `traceparent` (W3C) of every request names a trace: that of the active span, the caller's, else a new one, so
 * that logs have a trace id without an exporter too, and services behind this one share it. A request id that is a UUID,
 * as ours are, gives the id of the trace.
 */
function assignTrace(req: IncomingMessage, requestId: string): void {
  const active = currentTraceparent();
  if (active !== undefined) req.headers.traceparent = active;
  if (traceIdIn(req.headers.traceparent) !== null) return;
  const words = UUID.test(requestId) ? requestId : randomUUID();
  const id = words.replaceAll('-', '').toLowerCase();
  req.headers.traceparent = `00-${id}-${id.slice(16)}-01`;
  delete req.headers.tracestate;
}

/** What a line of the log calls a request: its id, and the trace that it belongs to. */
export function requestNames(req: IncomingMessage): { request_id: string; trace_id: string } {
  return { request_id: requestIdOf(req), trace_id: traceIdIn(req.headers.traceparent) ?? '' };
}

/** The request's id, as {@link assignRequestId} left it. */
export function requestIdOf(req: IncomingMessage): string {
  const id = req.headers[HEADER];
  return typeof id === 'string' ? id : '';
}
