import type { ContingencyList } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { RequestParameters, type ServiceRoute } from '@ecf/http';
import { identityOf } from '@ecf/http/identity';
import type { Request, Response } from 'express';
import type { ContingencyStore } from './ports.js';

/** `GET /contingency`: the documents of the account that wait for the authority. */
export function contingencyRoute(contingency: Pick<ContingencyStore, 'list'>): ServiceRoute {
  return [
    'get',
    '/contingency',
    'account',
    async (req: Request, res: Response) => {
      const parameters = new RequestParameters(req);
      const { after, limit } = parameters.pageAfter();
      parameters.check();
      const { account_id: accountId, env, taxpayers = null } = identityOf(req);
      const { total, documents } = await contingency.list({ accountId, env, taxpayers, after: after ?? 0, limit });
      res.setHeader('cache-control', 'no-store');
      const list: ContingencyList = {
        count: documents.length,
        total,
        next: documents.length === limit ? String(documents.at(-1)?.id) : null,
        documents: documents.map(({ encf, issuerRnc, signedAt, deadline }) => ({
          encf,
          issuer_rnc: issuerRnc,
          env,
          signed_at: toIsoDominican(signedAt),
          deadline: deadline && toIsoDominican(deadline),
        })),
      };
      res.type('application/json').end(JSON.stringify(list));
    },
  ];
}
