import { createHash } from 'node:crypto';
import { once } from 'node:events';
import type { Logger } from '@ecf/kit/telemetry';
import express from 'express';
import { type BodiesInFlight, countBodies } from './body/bodies-in-flight.js';
import { limitBody } from './body/body-limit.js';
import { errorHandler, unknownRoute } from './error-handler.js';
import { assignRequestId } from './request-id.js';
import { requestProblem } from './request-rules.js';

export interface HttpAppOptions {
  logger: Logger;
  maxBodyBytes: number;
  /** The budget of bodies in flight of this process; none by default. */
  bodies?: BodiesInFlight;
  /** Adds the routes of the service. */
  routes: (app: express.Express) => void;
}

/** An express app without banner, whose answers have no ETag of express and whose query parameters are text or lists of text. */
export function createExpressApp(): express.Express {
  return express().disable('x-powered-by').disable('etag').set('query parser', 'simple');
}

/** An express app with what every service shares: request ids, body limit, JSON errors, no banner. */
export function createHttpApp(options: HttpAppOptions): express.Express {
  const app = createExpressApp();
  app.use((req, res, next) => {
    assignRequestId(req, res);
    next(requestProblem(req) ?? undefined);
  });
  app.use(limitBody(options.maxBodyBytes));
  if (options.bodies !== undefined) app.use(countBodies(options.bodies));
  options.routes(app);
  app.use(unknownRoute);
  app.use(errorHandler(options.logger));
  return app;
}

/** Answers with one object as JSON: 304 without a body if the caller already has it. */
export function sendObject(req: express.Request, res: express.Response, object: object | string): void {
  const text = typeof object === 'string' ? object : JSON.stringify(object);
  sendUnlessKnown(req, res, 'application/json; charset=utf-8', Buffer.from(text));
}

/** Answers with a document, by default stored XML: 304 without a body if the caller already has it. */
export function sendDocument(
  req: express.Request,
  res: express.Response,
  bytes: Uint8Array,
  type = 'application/xml; charset=utf-8',
): void {
  res.setHeader('x-content-type-options', 'nosniff');
  sendUnlessKnown(req, res, type, bytes);
}

/** The ETag is the SHA-256 of the body (RFC 9110, 8.8.3). Caches must revalidate before each use, because statuses change. */
function sendUnlessKnown(req: express.Request, res: express.Response, type: string, body: Uint8Array): void {
  const tag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  res.setHeader('etag', tag);
  res.setHeader('cache-control', 'private, no-cache');
  if (names(req.headers['if-none-match'], tag)) {
    res.status(304).end();
    return;
  }
  res.setHeader('content-type', type);
  res.end(body);
}

/**
 * Whether `if-none-match` names the tag (RFC 9110, 13.1.2). `req.fresh` of express does not see it beside `cache-control:
 * no-cache`, which every `fetch` adds.
 */
function names(header: string | undefined, tag: string): boolean {
  const tags = header?.split(',').map((one) => one.trim().replace(/^W\//, '')) ?? [];
  return tags.includes(tag) || (tags.length === 1 && tags[0] === '*');
}

/** Writes a piece of an answer; resolves when the connection takes more, or is closed. */
export async function writeChunk(res: express.Response, chunk: string): Promise<void> {
  if (res.write(chunk) || res.destroyed) return;
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]);
  waiting.abort();
}
