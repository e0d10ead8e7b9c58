import type { ResolutionOperations, WebhookOperations } from '@ecf/contracts';
import { identify, type SealingKeys } from '@ecf/service-kit/security';
import express, { type Request, type Response } from 'express';
import type { ActProofs } from '../../core/act-proofs.js';
import type { OpenCertificate } from '../../core/certificate-upload.js';
import type { AccountStore, AuditLog, KeyUses } from '../../core/ports.js';
import type { Upstream } from '../../upstream.js';
import { actingIn, recordedIn } from '../admin/input.js';
import { apiKeyRoutes } from './api-keys.js';
import { createNumbersLeft } from './numbers-left.js';
import { ownAccountRoutes } from './own-account.js';
import { runRoutes } from './runs.js';
import { taxpayerSettingRoutes } from './taxpayer-settings.js';
import { webhookRoutes } from './webhooks.js';

export interface AccountSettingOptions {
  store: AccountStore;
  /** Stores uses of keys and failed sign-ins that are only in memory. */
  activity: Pick<KeyUses, 'flush'>;
  audit: AuditLog;
  proofs: Pick<ActProofs, 'prove'>;
  sealingKeys: SealingKeys;
  openCertificate: OpenCertificate;
  owners: AccountSettingOwners;
  clock: () => Date;
}

/** The services that have a part of the settings; null if one is not part of the deployment. */
export interface AccountSettingOwners {
  resolution: Pick<ResolutionOperations, 'numbersLeft' | 'startRun'> | null;
  webhooks: WebhookOperations | null;
}

/**
 * The settings of an account, below `base`: certificates, number ranges, certification runs, API keys and webhooks. Administrators have the base
 * `/accounts/:id`; API keys `/account`, where the handlers keep to the rights of the key.
 */
export function accountSettings(base: string, options: AccountSettingOptions): express.Router {
  const { store, owners } = options;
  const routes = express.Router({ caseSensitive: true });
  routes.use(taxpayerSettingRoutes(base, { ...options, numbersLeft: createNumbersLeft(owners.resolution) }));
  routes.use(runRoutes(base, { store, emission: owners.resolution, acting: actingIn(options) }));
  routes.use(apiKeyRoutes(base, options));
  routes.use(webhookRoutes(base, { store, webhooks: owners.webhooks, recorded: recordedIn(options) }));
  return routes;
}

/** `GET /account`, and the settings of the account of the API key below it. */
export function accountRoutes(options: AccountSettingOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes.use(ownAccountRoutes({ store: options.store, numbersLeft: createNumbersLeft(options.owners.resolution) }));
  routes.use(accountSettings('/account', options));
  return routes;
}

/** The gateway as the owner of the operations on the account of an API key. */
export function accountOwner(options: AccountSettingOptions): Upstream {
  const routes = accountRoutes(options);
  return {
    forward(caller, req, res, next) {
      identify(req, caller);
      routes(req as Request, res as Response, next);
    },
    ready: async () => {},
  };
}
