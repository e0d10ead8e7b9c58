import { randomUUID } from 'node:crypto';
import { activeSchema, type DeliveryOperations, newAccountSchema, newTaxpayerSchema } from '@ecf/contracts';
import { registeredNumberWarnings } from '@ecf/domain';
import { ApiError } from '@ecf/service-kit/errors';
import { validate } from '@ecf/service-kit/http';
import express, { type Request, type Response } from 'express';
import type { ActProofs } from '../../core/act-proofs.js';
import type { SignIn } from '../../core/administrators.js';
import type { AdministratorStore } from '../../core/ports.js';
import { type AccountSettingOptions, accountSettings } from '../account/routes.js';
import { otherMethods } from '../own-routes.js';
import { administratorRoutes } from './administrators.js';
import { auditRoutes } from './audit.js';
import { accountBody, taxpayerBody } from './bodies.js';
import { adminDeliveries } from './deliveries.js';
import { accountId, actedBy, actingIn, found, json, pageOf, recordedIn, rnc } from './input.js';
import { masterKeyRoutes } from './master-keys.js';
import { adminOperation, type OperationOwners } from './operation.js';
import { adminSignIn } from './sign-in.js';

export interface AdminOptions extends AccountSettingOptions {
  administrators: AdministratorStore;
  proofs: Pick<ActProofs, 'prove'>;
  signIn: SignIn;
  /** Null if the service of deliveries is not part of the deployment. */
  deliveries: DeliveryOperations | null;
  owners: OperationOwners;
}

/**
 * POST, GET  /admin/accounts                                     GET, PATCH   /admin/accounts/{id}
 * POST, GET  /admin/accounts/{id}/taxpayers                      GET, PATCH   …/taxpayers/{rnc}
 * the settings of an account (`../account/routes.ts`) below /admin/accounts/{id}
 * GET        /admin/deliveries                                   POST         /admin/deliveries/retry
 * and the routes of `operation.ts`, `administrators.ts`, `audit.ts` and `master-keys.ts`
 */
export function adminRoutes(options: AdminOptions): express.Router {
  const routes = express.Router({ caseSensitive: true, mergeParams: true });
  routes.use(adminSignIn(options.signIn));
  routes.use(administratorRoutes(options));
  routes.use(auditRoutes(options));
  accountRoutes(routes, options);
  taxpayerRoutes(routes, options);
  routes.use(accountSettings('/accounts/:id', options));
  const acting = actingIn(options);
  if (options.deliveries !== null) routes.use(adminDeliveries(options.deliveries, acting));
  routes.use(masterKeyRoutes(options));
  const recorded = recordedIn(options);
  routes.use(adminOperation(options.owners, acting, recorded));
  return routes;
}

function accountRoutes(routes: express.Router, { store }: AdminOptions): void {
  routes
    .route('/accounts')
    .post(json, async (req: Request, res: Response) => {
      const { name } = validate(newAccountSchema, req.body, 'body');
      res.status(201).json(accountBody(await store.createAccount({ id: randomUUID(), name }, actedBy(req, res))));
    })
    .get(async (req: Request, res: Response) => {
      res.json((await store.listAccounts(pageOf(req))).map(accountBody));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/accounts/:id')
    .get(async (req: Request, res: Response) => {
      res.json(accountBody(found(await store.findAccount(accountId(req, res)), 'account')));
    })
    .patch(json, async (req: Request, res: Response) => {
      const { active } = validate(activeSchema, req.body, 'body');
      res.json(
        accountBody(found(await store.setAccountActive(accountId(req, res), active, actedBy(req, res)), 'account')),
      );
    })
    .all(otherMethods('GET', 'PATCH'));
}

function taxpayerRoutes(routes: express.Router, { store }: AdminOptions): void {
  routes
    .route('/accounts/:id/taxpayers')
    .post(json, async (req: Request, res: Response) => {
      const taxpayer = validate(newTaxpayerSchema, req.body, 'body');
      const created = found(await store.createTaxpayer(accountId(req, res), taxpayer, actedBy(req, res)), 'account');
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
      res.json(found(await store.listTaxpayers(accountId(req, res), pageOf(req)), 'account').map(taxpayerBody));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/accounts/:id/taxpayers/:rnc')
    .get(async (req: Request, res: Response) => {
      res.json(taxpayerBody(found(await store.findTaxpayer(accountId(req, res), rnc(req, res)), 'taxpayer')));
    })
    .patch(json, async (req: Request, res: Response) => {
      const { active } = validate(activeSchema, req.body, 'body');
      res.json(
        taxpayerBody(
          found(
            await store.setTaxpayerActive(accountId(req, res), rnc(req, res), active, actedBy(req, res)),
            'taxpayer',
          ),
        ),
      );
    })
    .all(otherMethods('GET', 'PATCH'));
}
