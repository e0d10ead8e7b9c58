import { IncomingMessage, ServerResponse } from 'node:http';
import express from 'express';

/**
 * Requests and answers as express wants them from the beginning. An app gives whatever it handles prototypes of its own, after
 * which all that handles them, node's own code too, is looked up anew. So all apps of {@link createExpressApp} share one pair,
 * and servers make their requests with it.
 */
export class ExpressRequest extends IncomingMessage {}
export class ExpressResponse extends ServerResponse {}

Object.setPrototypeOf(ExpressRequest.prototype, express.request);
Object.setPrototypeOf(ExpressResponse.prototype, express.response);

/** Whose settings requests and answers read, which are the same for all. */
const shared = plain(express());
const toShared = { value: shared, configurable: true, writable: true };
Object.defineProperty(ExpressRequest.prototype, 'app', toShared);
Object.defineProperty(ExpressResponse.prototype, 'app', toShared);

/** An express app without banner and ETags, whose query parameters are text or lists of text. Settings are not for changing. */
export function createExpressApp(): express.Express {
  const app = plain(express());
  app.request = ExpressRequest.prototype as express.Request;
  app.response = ExpressResponse.prototype as express.Response;
  return app;
}

function plain(app: express.Express): express.Express {
  return app.disable('x-powered-by').disable('etag').set('query parser', 'simple');
}
