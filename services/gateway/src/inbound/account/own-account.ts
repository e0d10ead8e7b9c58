import { type OwnAccountBody, ownAccountQuerySchema } from '@ecf/contracts';
import { validate } from '@ecf/service-kit/http';
import express, { type Request, type Response } from 'express';
import type { AccountStore, KeyHolder, Taxpayer } from '../../core/ports.js';
import { timeOrNull } from '../admin/bodies.js';
import { found, managerOf } from '../admin/input.js';
import { otherMethods } from '../own-routes.js';
import type { NumbersLeft } from './numbers-left.js';

export interface OwnAccountOptions {
  store: Pick<AccountStore, 'findAccount' | 'findApiKey' | 'listTaxpayers' | 'countTaxpayers'>;
  numbersLeft: NumbersLeft;
}

/** `GET /account`: what the API key may do. */
export function ownAccountRoutes({ store, numbersLeft }: OwnAccountOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });

  async function taxpayersOf(holder: KeyHolder, taxpayers: readonly Taxpayer[]): Promise<OwnAccountBody['taxpayers']> {
    const bodies: OwnAccountBody['taxpayers'] = [];
    for (const { rnc, name, active, certificate, ranges } of taxpayers) {
      const own = ranges.filter(({ env }) => holder.environments.includes(env));
      const certificate_not_after = timeOrNull(certificate?.notAfter ?? null);
      bodies.push({ rnc, name, active, certificate_not_after, ranges: await numbersLeft(rnc, own) });
    }
    return bodies;
  }

  routes
    .route('/account')
    .get(async (req: Request, res: Response) => {
      const page = validate(ownAccountQuerySchema, req.query, 'query');
      const holder = found(managerOf(res), 'key');
      const { accountId, keyId, environments, scopes, taxpayers, expiresAt } = holder;
      const { id, name } = found(await store.findAccount(accountId), 'account');
      const key = found(await store.findApiKey(accountId, keyId), 'key');
      const rows = found(await store.listTaxpayers(accountId, page, taxpayers), 'account');
      const body: OwnAccountBody = {
        account: { id, name },
        key: { id: keyId, name: key.name, expires_at: timeOrNull(expiresAt) },
        environments: [...environments],
        scopes: [...scopes],
        total_taxpayers: await store.countTaxpayers(accountId, taxpayers),
        taxpayers: await taxpayersOf(holder, rows),
      };
      res.json(body);
    })
    .all(otherMethods('GET'));
  return routes;
}
