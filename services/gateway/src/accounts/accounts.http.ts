import { randomUUID } from 'node:crypto';
import { activeSchema, newAccountSchema, newTaxpayerSchema } from '@ecf/contracts';
import { registeredNumberWarnings } from '@ecf/domain';
import { validate } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import express, { type Request, type Response } from 'express';
import { actedBy } from '../audit/acting.http.js';
import { accountId, found, json, pageOf, rnc } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { accountBody, taxpayerBody } from './bodies.js';
import type { AccountStore, TaxpayerStore } from './ports.js';

/** Accounts and their taxpayers, for administrators. */
export function adminAccountRoutes(options: { accounts: AccountStore; taxpayers: TaxpayerStore }): express.Router {
  const routes = express.Router({ caseSensitive: true });
  addAccounts(routes, options.accounts);
  addTaxpayers(routes, options.taxpayers);
  return routes;
}

function addAccounts(routes: express.Router, accounts: AccountStore): void {
  routes
    .route('/accounts')
    .post(json, async (req: Request, res: Response) => {
      const { name } = validate(newAccountSchema, req.body, 'body');
      res.status(201).json(accountBody(await accounts.create({ id: randomUUID(), name }, actedBy(req, res))));
    })
    .get(async (req: Request, res: Response) => {
      res.json((await accounts.list(pageOf(req))).map(accountBody));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/accounts/:id')
    .get(async (req: Request, res: Response) => {
      res.json(accountBody(found(await accounts.find(accountId(req, res)), 'account')));
    })
    .patch(json, async (req: Request, res: Response) => {
      const { active } = validate(activeSchema, req.body, 'body');
      res.json(accountBody(found(await accounts.setActive(accountId(req, res), active, actedBy(req, res)), 'account')));
    })
    .all(otherMethods('GET', 'PATCH'));
}

function addTaxpayers(routes: express.Router, taxpayers: TaxpayerStore): void {
  routes
    .route('/accounts/:id/taxpayers')
    .post(json, async (req: Request, res: Response) => {
      const taxpayer = validate(newTaxpayerSchema, req.body, 'body');
      const created = found(await taxpayers.create(accountId(req, res), taxpayer, actedBy(req, res)), 'account');
      if (created === 'taken')
        throw new ApiError(
          409,
          'taxpayer_taken',
          `${taxpayer.rnc} is registered in this deployment; an RNC belongs to one account.`,
        );
      const warnings = registeredNumberWarnings(taxpayer.rnc, 'rnc');
      res.status(201).json({ ...taxpayerBody(created), warnings });
    })
    .get(async (req: Request, res: Response) => {
      res.json(found(await taxpayers.list(accountId(req, res), pageOf(req)), 'account').map(taxpayerBody));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/accounts/:id/taxpayers/:rnc')
    .get(async (req: Request, res: Response) => {
      res.json(taxpayerBody(found(await taxpayers.find(accountId(req, res), rnc(req, res)), 'taxpayer')));
    })
    .patch(json, async (req: Request, res: Response) => {
      const { active } = validate(activeSchema, req.body, 'body');
      res.json(
        taxpayerBody(
          found(await taxpayers.setActive(accountId(req, res), rnc(req, res), active, actedBy(req, res)), 'taxpayer'),
        ),
      );
    })
    .all(otherMethods('GET', 'PATCH'));
}
