import type { Request, Response } from 'express';
import type { ProviderTokens } from '../core/provider-tokens.js';
import type { Republish } from '../core/republish.js';

/** What other services of the deployment ask: the keys of providers' tokens, and to hear everything again. */
export function internalRoutes(parts: { tokens: Pick<ProviderTokens, 'publicKeys'>; republish: Republish }) {
  return {
    async providerKeys(_req: Request, res: Response): Promise<void> {
      res.setHeader('cache-control', 'max-age=60');
      res.json(await parts.tokens.publicKeys());
    },
    async republish(_req: Request, res: Response): Promise<void> {
      res.json({ republished: await parts.republish.all() });
    },
  };
}
