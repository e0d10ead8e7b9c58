import { IDENTITY_HEADER } from '@ecf/service-kit';
import type { Express, Request, Response } from 'express';
import type { Upstream } from '../core/upstream.js';

/**
 * A service of the same process: its app gets the very request and response, with the identity in place of the key. What the
 * app's own handlers leave over is the gateway's, and never express's last handler, which prints it and cuts the connection.
 */
export function createInProcessUpstream(service: {
  app: Express;
  ready: () => Promise<{ ready: boolean; checks: Record<string, string> }>;
}): Upstream {
  return {
    forward(req, res, call) {
      req.url = call.url;
      delete req.headers['x-api-key'];
      req.headers[IDENTITY_HEADER] = call.identity;
      return new Promise((_resolve, reject) => service.app(req as Request, res as Response, reject));
    },
    async ready() {
      const readiness = await service.ready();
      if (readiness.ready) return;
      const words = Object.entries(readiness.checks).filter(([, state]) => state !== 'ok');
      throw new Error(words.map(([name, state]) => `${name}: ${state}`).join(', '));
    },
  };
}
