import { randomUUID } from 'node:crypto';
import { newWebhookSchema, type WebhookOperations, webhookChangeSchema, webhookReplaySchema } from '@ecf/contracts';
import { validate } from '@ecf/service-kit/http';
import express, { type Request, type Response } from 'express';
import type { AccountStore } from '../../core/ports.js';
import { otherMethods } from '../own-routes.js';
import { accountId, found, json, pageOf, type Recorded, webhookId } from './input.js';
import { present } from './operation.js';

const DEFAULT_ROWS = 200;

export interface WebhookRouteOptions {
  store: Pick<AccountStore, 'findAccount'>;
  /** The query service; null if it is not part of the deployment. */
  webhooks: WebhookOperations | null;
  recorded: Recorded;
}

/**
 * POST, GET           /admin/accounts/{id}/webhooks
 * GET, PATCH, DELETE  /admin/accounts/{id}/webhooks/{webhook_id}
 * POST                /admin/accounts/{id}/webhooks/{webhook_id}/rotate, /replay and /test
 */
export function webhookRoutes({ store, webhooks, recorded }: WebhookRouteOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  const owner = () => present(webhooks, 'query');
  const account = async (req: Request) => found(await store.findAccount(accountId(req)), 'account').id;
  const nameOf = (req: Request) => ({ account_id: accountId(req), webhook_id: webhookId(req) });
  const act = (verb: string, { account_id, webhook_id }: ReturnType<typeof nameOf>, details = {}) => ({
    action: `webhook.${verb}`,
    target: `/accounts/${account_id}/webhooks/${webhook_id}`,
    details,
  });

  routes
    .route('/accounts/:id/webhooks')
    .post(json, async (req: Request, res: Response) => {
      const webhook = validate(newWebhookSchema, req.body, 'body');
      const name = { account_id: await account(req), webhook_id: randomUUID() };
      const create = () => owner().createWebhook({ ...name, webhook });
      res.status(201).json(await recorded(req, res, act('create', name, { url: hostOf(webhook.url) }), create));
    })
    .get(async (req: Request, res: Response) => {
      const account_id = await account(req);
      res.json((await owner().listWebhooks({ account_id, ...pageOf(req, DEFAULT_ROWS) })).webhooks);
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route('/accounts/:id/webhooks/:webhookId')
    .get(async (req: Request, res: Response) => {
      res.json(await owner().findWebhook(nameOf(req)));
    })
    .patch(json, async (req: Request, res: Response) => {
      const change = validate(webhookChangeSchema, req.body, 'body');
      const name = nameOf(req);
      const logged = { ...change, ...(change.url === undefined ? {} : { url: hostOf(change.url) }) };
      const run = () => owner().changeWebhook({ ...name, change });
      res.json(await recorded(req, res, act('update', name, logged), run));
    })
    .delete(async (req: Request, res: Response) => {
      const name = nameOf(req);
      await recorded(req, res, act('delete', name), () => owner().deleteWebhook(name));
      res.status(204).end();
    })
    .all(otherMethods('GET', 'PATCH', 'DELETE'));
  routes
    .route('/accounts/:id/webhooks/:webhookId/rotate')
    .post(async (req: Request, res: Response) => {
      const name = nameOf(req);
      res.json(await recorded(req, res, act('rotate', name), () => owner().rotateWebhook(name)));
    })
    .all(otherMethods('POST'));
  routes
    .route('/accounts/:id/webhooks/:webhookId/replay')
    .post(json, async (req: Request, res: Response) => {
      const { after } = validate(webhookReplaySchema, req.body, 'body');
      const name = nameOf(req);
      await recorded(req, res, act('replay', name, { after }), () => owner().replayWebhook({ ...name, after }));
      res.status(202).json({});
    })
    .all(otherMethods('POST'));
  routes
    .route('/accounts/:id/webhooks/:webhookId/test')
    .post(async (req: Request, res: Response) => {
      const name = nameOf(req);
      res.json(await recorded(req, res, act('test', name), () => owner().testWebhook(name)));
    })
    .all(otherMethods('POST'));
  return routes;
}

/** The path and the query of an address may hold a secret, which the audit log must not keep. */
function hostOf(url: string): string {
  return new URL(url).origin;
}
