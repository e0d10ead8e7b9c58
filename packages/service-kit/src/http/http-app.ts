import { once } from 'node:events';
import express from 'express';
import type { Logger } from '../telemetry/logger.js';
import { limitBody } from './body-limit.js';
import { errorHandler, unknownRoute } from './error-handler.js';
import { assignRequestId } from './request-id.js';
import { requestProblem } from './request-rules.js';

export interface HttpAppOptions {
  logger: Logger;
  maxBodyBytes: number;
  /** Adds the routes of the service. */
  routes: (app: express.Express) => void;
}

/** An express app without banner and ETags, whose query parameters are text or lists of text. */
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
  options.routes(app);
  app.use(unknownRoute);
  app.use(errorHandler(options.logger));
  return app;
}

/** Writes a piece of an answer; resolves when the connection takes more, or is closed. */
export async function writeChunk(res: express.Response, chunk: string): Promise<void> {
  if (res.write(chunk) || res.destroyed) return;
  const waiting = new AbortController();
  const { signal } = waiting;
  await Promise.race([once(res, 'drain', { signal }), once(res, 'close', { signal })]);
  waiting.abort();
}
