import { type OwnAccountBody, ownAccountQuerySchema } from '@ecf/contracts';
import { validate } from '@ecf/http';
import express, { type Request, type Response } from 'express';
import type { KeyHolder } from '../access/ports.js';
import { found, managerOf } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { timeOrNull } from './bodies.js';
import type { NumbersLeft } from './numbers-left.js';
import type { AccountStore, ApiKeyStore, Taxpayer, TaxpayerStore } from './ports.js';

export interface OwnAccountOptions {
  accounts: Pick<AccountStore, 'find'>;
  taxpayers: Pick<TaxpayerStore, 'list' | 'count'>;
  apiKeys: Pick<ApiKeyStore, 'find'>;
  numbersLeft: NumbersLeft;
}

/** `GET /account`: what the API key may do. */
export function ownAccountRoutes(options: OwnAccountOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });

  async function taxpayersOf(holder: KeyHolder, taxpayers: readonly Taxpayer[]): Promise<OwnAccountBody['taxpayers']> {
    const bodies: OwnAccountBody['taxpayers'] = [];
    for (const { rnc, name, active, certificate, ranges } of taxpayers) {
      const own = ranges.filter(({ env }) => holder.environments.includes(env));
      const certificate_not_after = timeOrNull(certificate?.notAfter ?? null);
      bodies.push({ rnc, name, active, certificate_not_after, ranges: await options.numbersLeft(rnc, own) });
    }
    return bodies;
  }

  routes
    .route('/account')
    .get(async (req: Request, res: Response) => {
      const page = validate(ownAccountQuerySchema, req.query, 'query');
      const holder = found(managerOf(res), 'key');
      const { accountId, keyId, environments, scopes, taxpayers, expiresAt } = holder;
      const { id, name } = found(await options.accounts.find(accountId), 'account');
      const key = found(await options.apiKeys.find(accountId, keyId), 'key');
      const rows = found(await options.taxpayers.list(accountId, page, taxpayers), 'account');
      const body: OwnAccountBody = {
        account: { id, name },
        key: { id: keyId, name: key.name, expires_at: timeOrNull(expiresAt) },
        environments: [...environments],
        scopes: [...scopes],
        total_taxpayers: await options.taxpayers.count(accountId, taxpayers),
        taxpayers: await taxpayersOf(holder, rows),
      };
      res.json(body);
    })
    .all(otherMethods('GET'));
  return routes;
}
