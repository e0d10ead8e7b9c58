import { randomUUID } from 'node:crypto';
import { changeApiKeySchema, newApiKeySchema, rotateApiKeySchema } from '@ecf/contracts';
import { validate } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import express, { type Request, type Response } from 'express';
import { hashApiKey, hintOf, makeApiKey } from '../access/api-key-text.js';
import { requireOwnRights, requireOwnScopes, seesKey } from '../access/own-rights.js';
import type { KeyUses } from '../access/ports.js';
import { actedBy } from '../audit/acting.http.js';
import { accountId, expiryOf, found, json, keyId, managerOf, pageOf } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { apiKeyBody, apiKeyRights } from './bodies.js';
import type { ApiKey, ApiKeyStore } from './ports.js';

const HOUR_MS = 3_600_000;

export interface ApiKeyRouteOptions {
  apiKeys: ApiKeyStore;
  activity: Pick<KeyUses, 'flush'>;
  clock: () => Date;
}

/**
 * POST, GET    …/api-keys
 * GET, PATCH, DELETE  …/api-keys/{key_id}
 * POST         …/api-keys/{key_id}/rotate
 */
export function apiKeyRoutes(base: string, { apiKeys, activity, clock }: ApiKeyRouteOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  /** The key of the path. One that the manager does not see is 404. */
  async function keyOf(req: Request, res: Response): Promise<ApiKey> {
    const key = found(await apiKeys.find(accountId(req, res), keyId(req)), 'key');
    return found(seesKey(managerOf(res), key) ? key : null, 'key');
  }

  routes
    .route(`${base}/api-keys`)
    .post(json, async (req: Request, res: Response) => {
      const { expires_at, refuse_warnings, taxpayers = null, ...wanted } = validate(newApiKeySchema, req.body, 'body');
      const rights = {
        ...wanted,
        taxpayers,
        refuseWarnings: refuse_warnings,
        expiresAt: expiryOf(expires_at, clock()),
      };
      requireOwnRights(managerOf(res), rights);
      const key = makeApiKey(rights.environments);
      const stored = { id: randomUUID(), ...rights, hint: hintOf(key), hash: hashApiKey(key) };
      const { id, name } = found(await apiKeys.create(accountId(req, res), stored, actedBy(req, res)), 'account');
      res.status(201).json({ id, key, name, ...apiKeyRights(rights) });
    })
    .get(async (req: Request, res: Response) => {
      await activity.flush();
      const keys = await apiKeys.list(accountId(req, res), pageOf(req), managerOf(res));
      res.json(found(keys, 'account').map(apiKeyBody));
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route(`${base}/api-keys/:keyId`)
    .get(async (req: Request, res: Response) => {
      await activity.flush();
      res.json(apiKeyBody(await keyOf(req, res)));
    })
    .patch(json, async (req: Request, res: Response) => {
      const { refuse_warnings: refuseWarnings } = validate(changeApiKeySchema, req.body, 'body');
      const key = await keyOf(req, res);
      requireOwnScopes(managerOf(res), key);
      const changed = await apiKeys.change(accountId(req, res), key.id, { refuseWarnings }, actedBy(req, res));
      res.json(apiKeyBody(found(changed, 'key')));
    })
    .delete(async (req: Request, res: Response) => {
      const key = await keyOf(req, res);
      requireOwnScopes(managerOf(res), key);
      found(await apiKeys.revoke(accountId(req, res), key.id, clock(), actedBy(req, res)), 'key');
      res.status(204).end();
    })
    .all(otherMethods('GET', 'PATCH', 'DELETE'));
  routes
    .route(`${base}/api-keys/:keyId/rotate`)
    .post(json, async (req: Request, res: Response) => {
      const { overlap_hours } = validate(rotateApiKeySchema, req.body ?? {}, 'body');
      const old = await keyOf(req, res);
      requireOwnRights(managerOf(res), old);
      const key = makeApiKey(old.environments);
      const now = clock();
      const oldExpiresAt = new Date(now.getTime() + overlap_hours * HOUR_MS);
      const replacing = { id: randomUUID(), hint: hintOf(key), hash: hashApiKey(key), oldExpiresAt };
      const made = found(await apiKeys.rotate(accountId(req, res), old.id, replacing, now, actedBy(req, res)), 'key');
      if (made === 'unusable')
        throw new ApiError(409, 'conflict', 'This key is revoked or expired, so it has no successor; make a new key.');
      res.json({ id: made.id, key });
    })
    .all(otherMethods('POST'));
  return routes;
}
