import { identify } from '@ecf/service-kit/security';
import type { Express, Request, Response } from 'express';
import type { Upstream } from '../upstream.js';

/** A service of the same process: its app takes the request like a mounted app of express. */
export function createInProcessUpstream(service: {
  app: Express;
  ready: () => Promise<{ ready: boolean; checks: Record<string, string> }>;
}): Upstream {
  return {
    forward(caller, req, res, next) {
      identify(req, caller);
      service.app(req as Request, res as Response, next);
    },
    async ready() {
      const readiness = await service.ready();
      if (readiness.ready) return;
      const failed = Object.entries(readiness.checks).filter(([, state]) => state !== 'ok');
      throw new Error(failed.map(([name, state]) => `${name}: ${state}`).join(', '));
    },
  };
}
