import { createHash, randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { currentTraceparent, traceIdIn } from '@ecf/kit';

const ALLOWED = /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}$/;
const HEADER = 'x-request-id';
/** Version 4: fixed bits keep it from being zero. */
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i;

/**
 * Keeps a harmless `x-request-id` of the caller (up to 128 letters, digits and `._:@/+=-`), else creates one. Sets it on
 * request and answer, so that all later code reads it in one place. An active span replaces the caller's `traceparent`.
 * Two callers may choose the same id: it is written to logs and records, and never used to find anything.
 */
export function assignRequestId(req: IncomingMessage, res: ServerResponse, makeId: () => string = randomUUID): string {
  const given = req.headers[HEADER];
  const id = typeof given === 'string' && ALLOWED.test(given) ? given : makeId();
  req.headers[HEADER] = id;
  res.setHeader(HEADER, id);
  const active = currentTraceparent();
  if (active !== undefined) req.headers.traceparent = active;
  return id;
}

/**
 * The name of a request in log lines: its id and its trace. Without a span and a `traceparent` of the caller, the trace id
 * follows from the request's id. So logs have a trace id without an exporter too, the same in every service of the request.
 */
export function requestNames(req: IncomingMessage): { request_id: string; trace_id: string } {
  const requestId = requestIdOf(req);
  return { request_id: requestId, trace_id: traceIdIn(req.headers.traceparent) ?? traceIdFrom(requestId) };
}

function traceIdFrom(requestId: string): string {
  if (UUID.test(requestId)) return requestId.replaceAll('-', '').toLowerCase();
  return createHash('sha256').update(requestId).digest('hex').slice(0, 32);
}

/** The request's id, as {@link assignRequestId} left it. */
export function requestIdOf(req: IncomingMessage): string {
  const id = req.headers[HEADER];
  return typeof id === 'string' ? id : '';
}
