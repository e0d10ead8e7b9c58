import { handOver, IDENTITY_HEADER } from '@ecf/service-kit/security';
import type { Express, Request, Response } from 'express';
import type { Upstream } from '../core/upstream.js';

/**
 * A service of the same process: its app gets the very request and response, with the caller in place of the key, and nothing
 * to verify. What the app's own handlers leave over is the gateway's, and never express's last handler, which prints it and
 * cuts the connection.
 */
export function createInProcessUpstream(service: {
  app: Express;
  ready: () => Promise<{ ready: boolean; checks: Record<string, string> }>;
}): Upstream {
  return {
    forward(req, res, call) {
      req.url = call.url;
      // Not deleted: what reads an object that lost a name is slower ever after.
      req.headers['x-api-key'] = undefined;
      req.headers[IDENTITY_HEADER] = undefined;
      handOver(req, call.caller);
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
