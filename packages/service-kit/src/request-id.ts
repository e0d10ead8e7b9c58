import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

const ALLOWED = /^[A-Za-z0-9][A-Za-z0-9._:@/+=-]{0,127}$/;
const HEADER = 'x-request-id';

/**
 * Keeps the caller's `x-request-id` where it is harmless (up to 128 letters, digits and `._:@/+=-`), else makes one;
 * sets it on request and answer, so that every later reader finds it in one place.
 */
export function assignRequestId(req: IncomingMessage, res: ServerResponse, makeId: () => string = randomUUID): string {
  const given = req.headers[HEADER];
  const id = typeof given === 'string' && ALLOWED.test(given) ? given : makeId();
  req.headers[HEADER] = id;
  res.setHeader(HEADER, id);
  return id;
}

/** The request's id, as {@link assignRequestId} left it. */
export function requestIdOf(req: IncomingMessage): string {
  const id = req.headers[HEADER];
  return typeof id === 'string' ? id : '';
}
