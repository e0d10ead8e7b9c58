import type { ResolutionOperations, WebhookOperations } from '@ecf/contracts';
import type { SealingKeys } from '@ecf/kit';
import express from 'express';
import type { KeyUses } from '../access/ports.js';
import type { Acting, Recorded } from '../audit/acting.http.js';
import { apiKeyRoutes } from './api-keys.http.js';
import type { OpenCertificate } from './certificate-upload.js';
import type { CheckLogo } from './logo-upload.http.js';
import { createNumbersLeft } from './numbers-left.js';
import { ownAccountRoutes } from './own-account.http.js';
import type { AccountStore, ApiKeyStore, TaxpayerStates, TaxpayerStore } from './ports.js';
import { runRoutes } from './runs.http.js';
import { taxpayerSettingRoutes } from './taxpayer-settings.http.js';
import { webhookRoutes } from './webhooks.http.js';

export interface AccountSettingOptions {
  accounts: AccountStore;
  taxpayers: TaxpayerStore;
  states: Pick<TaxpayerStates, 'logo'>;
  apiKeys: ApiKeyStore;
  /** Stores uses of keys and failed sign-ins that are only in memory. */
  activity: Pick<KeyUses, 'flush'>;
  acting: Acting;
  recorded: Recorded;
  sealingKeys: SealingKeys;
  openCertificate: OpenCertificate;
  checkLogo: CheckLogo;
  operations: AccountSettingOperations;
  clock: () => Date;
}

/** Settings that other services keep; null if the service is not part of the deployment. */
export interface AccountSettingOperations {
  resolution: Pick<ResolutionOperations, 'numbersLeft' | 'startRun'> | null;
  webhooks: WebhookOperations | null;
}

/**
 * The settings of an account, below `base`: certificates, logos, number ranges, certification runs, API keys and webhooks. Administrators have the base
 * `/accounts/:id`; API keys `/account`, where the handlers keep to the rights of the key.
 */
export function accountSettings(base: string, options: AccountSettingOptions): express.Router {
  const { resolution: emission, webhooks } = options.operations;
  const routes = express.Router({ caseSensitive: true });
  routes.use(taxpayerSettingRoutes(base, { ...options, numbersLeft: createNumbersLeft(emission) }));
  routes.use(runRoutes(base, { ...options, emission }));
  routes.use(apiKeyRoutes(base, options));
  routes.use(webhookRoutes(base, { ...options, webhooks }));
  return routes;
}

/** `GET /account`, and the settings of the account of the API key below it. */
export function accountRoutes(options: AccountSettingOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes.use(ownAccountRoutes({ ...options, numbersLeft: createNumbersLeft(options.operations.resolution) }));
  routes.use(accountSettings('/account', options));
  return routes;
}
