import { randomUUID } from 'node:crypto';
import {
  activeSchema,
  type DeliveryOperations,
  newAccountSchema,
  newRangesSchema,
  newTaxpayerSchema,
} from '@ecf/contracts';
import { ApiError } from '@ecf/service-kit/errors';
import { validate } from '@ecf/service-kit/http';
import type { SealingKeys } from '@ecf/service-kit/security';
import express, { type Request, type Response } from 'express';
import type { ActProofs } from '../../core/act-proofs.js';
import type { SignIn } from '../../core/administrators.js';
import { type OpenCertificate, sealUploaded } from '../../core/certificate-upload.js';
import type { AccountStore, AdministratorStore, AuditLog, KeyUses } from '../../core/ports.js';
import { otherMethods } from '../own-routes.js';
import { administratorRoutes } from './administrators.js';
import { apiKeyRoutes } from './api-keys.js';
import { auditRoutes } from './audit.js';
import { accountBody, certificateBody, taxpayerBody } from './bodies.js';
import { adminDeliveries } from './deliveries.js';
import {
  accountId,
  actedBy,
  actingIn,
  certificateParts,
  found,
  json,
  pageOf,
  recordedIn,
  rnc,
  uploaded,
} from './input.js';
import { masterKeyRoutes } from './master-keys.js';
import { adminOperation, type OperationOwners } from './operation.js';
import { adminSignIn } from './sign-in.js';
import { webhookRoutes } from './webhooks.js';

export interface AdminOptions {
  store: AccountStore;
  /** Stores uses of keys and failed sign-ins that are only in memory. */
  activity: Pick<KeyUses, 'flush'>;
  administrators: AdministratorStore;
  audit: AuditLog;
  proofs: Pick<ActProofs, 'prove'>;
  signIn: SignIn;
  sealingKeys: SealingKeys;
  openCertificate: OpenCertificate;
  /** Null if the service of deliveries is not part of the deployment. */
  deliveries: DeliveryOperations | null;
  owners: OperationOwners;
  clock: () => Date;
}

/**
 * POST, GET  /admin/accounts                                     GET, PATCH   /admin/accounts/{id}
 * POST, GET  /admin/accounts/{id}/taxpayers                      GET, PATCH   …/taxpayers/{rnc}
 * PUT, GET   …/taxpayers/{rnc}/certificate                       PUT, GET     …/taxpayers/{rnc}/ranges
 * POST, GET  /admin/accounts/{id}/api-keys                       GET, DELETE  …/api-keys/{key_id}
 * POST       …/api-keys/{key_id}/rotate
 * GET        /admin/deliveries                                   POST         /admin/deliveries/retry
 * and the routes of `operation.ts`, `administrators.ts`, `audit.ts`, `master-keys.ts` and `webhooks.ts`
 */
export function adminRoutes(options: AdminOptions): express.Router {
  const routes = express.Router({ caseSensitive: true, mergeParams: true });
  routes.use(adminSignIn(options.signIn));
  routes.use(administratorRoutes(options));
  routes.use(auditRoutes(options));
  accountRoutes(routes, options);
  taxpayerRoutes(routes, options);
  signingRoutes(routes, options);
  routes.use(apiKeyRoutes(options));
  const acting = actingIn(options.audit, options.proofs);
  if (options.deliveries !== null) routes.use(adminDeliveries(options.deliveries, acting));
  routes.use(masterKeyRoutes(options));
  const recorded = recordedIn(options.audit, options.clock);
  routes.use(webhookRoutes({ ...options, webhooks: options.owners.webhooks, recorded }));
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
      res.json(accountBody(found(await store.findAccount(accountId(req)), 'account')));
    })
    .patch(json, async (req: Request, res: Response) => {
      const { active } = validate(activeSchema, req.body, 'body');
      res.json(accountBody(found(await store.setAccountActive(accountId(req), active, actedBy(req, res)), 'account')));
    })
    .all(otherMethods('GET', 'PATCH'));
}

function taxpayerRoutes(routes: express.Router, { store }: AdminOptions): void {
  routes
    .route('/accounts/:id/taxpayers')
    .post(json, async (req: Request, res: Response) => {
      const taxpayer = validate(newTaxpayerSchema, req.body, 'body');
      const created = found(await store.createTaxpayer(accountId(req), taxpayer, actedBy(req, res)), 'account');
      if (created === 'taken')
        throw new ApiError(
          409,
          'taxpayer_taken',
          `${taxpayer.rnc} is registered in this deployment; an RNC belongs to one account.`,
        );
      res.status(201).json(taxpayerBody(created));
    })
    .get(async (req: Request, res: Response) => {
      res.json(found(await store.listTaxpayers(accountId(req), pageOf(req)), 'account').map(taxpayerBody));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/accounts/:id/taxpayers/:rnc')
    .get(async (req: Request, res: Response) => {
      res.json(taxpayerBody(found(await store.findTaxpayer(accountId(req), rnc(req)), 'taxpayer')));
    })
    .patch(json, async (req: Request, res: Response) => {
      const { active } = validate(activeSchema, req.body, 'body');
      res.json(
        taxpayerBody(
          found(await store.setTaxpayerActive(accountId(req), rnc(req), active, actedBy(req, res)), 'taxpayer'),
        ),
      );
    })
    .all(otherMethods('GET', 'PATCH'));
}

/** The certificate and the number ranges of a taxpayer. */
function signingRoutes(routes: express.Router, options: AdminOptions): void {
  const { store, sealingKeys, openCertificate, owners, clock } = options;
  routes
    .route('/accounts/:id/taxpayers/:rnc/certificate')
    .put(certificateParts, async (req: Request, res: Response) => {
      found(await store.findTaxpayer(accountId(req), rnc(req)), 'taxpayer');
      const sealed = await sealUploaded(
        { ...uploaded(req), account_id: accountId(req), rnc: rnc(req) },
        { openCertificate, sealingKeys, now: clock() },
      );
      const { certificate } = found(
        await store.putCertificate(accountId(req), rnc(req), sealed, actedBy(req, res)),
        'taxpayer',
      );
      res.json(certificateBody(found(certificate, 'certificate')));
    })
    .get(async (req: Request, res: Response) => {
      const { certificate } = found(await store.findTaxpayer(accountId(req), rnc(req)), 'taxpayer');
      res.json(certificateBody(found(certificate, 'certificate')));
    })
    .all(otherMethods('GET', 'PUT'));
  routes
    .route('/accounts/:id/taxpayers/:rnc/ranges')
    .put(json, async (req: Request, res: Response) => {
      const ranges = validate(newRangesSchema, req.body, 'body');
      res.json(found(await store.putRanges(accountId(req), rnc(req), ranges, actedBy(req, res)), 'taxpayer').ranges);
    })
    .get(async (req: Request, res: Response) => {
      const { ranges } = found(await store.findTaxpayer(accountId(req), rnc(req)), 'taxpayer');
      const left = await owners.resolution?.numbersLeft({ issuer_rnc: rnc(req), ranges: [...ranges] });
      const none = { next: null, remaining: null };
      res.json(ranges.map((range, index) => ({ ...range, ...(left?.ranges[index] ?? none) })));
    })
    .all(otherMethods('GET', 'PUT'));
}
