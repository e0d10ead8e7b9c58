import { randomUUID } from 'node:crypto';
import { newApiKeySchema, rotateApiKeySchema } from '@ecf/contracts';
import { ApiError } from '@ecf/service-kit/errors';
import { validate } from '@ecf/service-kit/http';
import express, { type Request, type Response } from 'express';
import { hashApiKey, hintOf, makeApiKey } from '../../core/api-keys.js';
import type { AccountStore, KeyUses } from '../../core/ports.js';
import { otherMethods } from '../own-routes.js';
import { apiKeyBody, apiKeyRights } from './bodies.js';
import { accountId, actedBy, expiryOf, found, json, keyId, pageOf } from './input.js';

const HOUR_MS = 3_600_000;

export interface ApiKeyRouteOptions {
  store: Pick<AccountStore, 'createApiKey' | 'listApiKeys' | 'findApiKey' | 'revokeApiKey' | 'rotateApiKey'>;
  activity: Pick<KeyUses, 'flush'>;
  clock: () => Date;
}

/**
 * POST, GET    /admin/accounts/{id}/api-keys
 * GET, DELETE  /admin/accounts/{id}/api-keys/{key_id}
 * POST         /admin/accounts/{id}/api-keys/{key_id}/rotate
 */
export function apiKeyRoutes({ store, activity, clock }: ApiKeyRouteOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes
    .route('/accounts/:id/api-keys')
    .post(json, async (req: Request, res: Response) => {
      const { expires_at, taxpayers = null, ...wanted } = validate(newApiKeySchema, req.body, 'body');
      const rights = { ...wanted, taxpayers, expiresAt: expiryOf(expires_at, clock()) };
      const key = makeApiKey(rights.environments);
      const stored = { id: randomUUID(), ...rights, hint: hintOf(key), hash: hashApiKey(key) };
      const { id, name } = found(await store.createApiKey(accountId(req), stored, actedBy(req, res)), 'account');
      res.status(201).json({ id, key, name, ...apiKeyRights(rights) });
    })
    .get(async (req: Request, res: Response) => {
      await activity.flush();
      res.json(found(await store.listApiKeys(accountId(req), pageOf(req)), 'account').map(apiKeyBody));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/accounts/:id/api-keys/:keyId')
    .get(async (req: Request, res: Response) => {
      await activity.flush();
      res.json(apiKeyBody(found(await store.findApiKey(accountId(req), keyId(req)), 'key')));
    })
    .delete(async (req: Request, res: Response) => {
      found(await store.revokeApiKey(accountId(req), keyId(req), clock(), actedBy(req, res)), 'key');
      res.status(204).end();
    })
    .all(otherMethods('GET', 'DELETE'));
  routes
    .route('/accounts/:id/api-keys/:keyId/rotate')
    .post(json, async (req: Request, res: Response) => {
      const { overlap_hours } = validate(rotateApiKeySchema, req.body ?? {}, 'body');
      const old = found(await store.findApiKey(accountId(req), keyId(req)), 'key');
      const key = makeApiKey(old.environments);
      const now = clock();
      const oldExpiresAt = new Date(now.getTime() + overlap_hours * HOUR_MS);
      const replacing = { id: randomUUID(), hint: hintOf(key), hash: hashApiKey(key), oldExpiresAt };
      const made = found(await store.rotateApiKey(accountId(req), old.id, replacing, now, actedBy(req, res)), 'key');
      if (made === 'unusable')
        throw new ApiError(409, 'conflict', 'This key is revoked or expired, so it has no successor; make a new key.');
      res.json({ id: made.id, key });
    })
    .all(otherMethods('POST'));
  return routes;
}
