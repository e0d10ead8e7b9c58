import { randomUUID } from 'node:crypto';
import { newWebhookSchema, type WebhookOperations, webhookChangeSchema, webhookReplaySchema } from '@ecf/contracts';
import { validate } from '@ecf/http';
import express, { type Request, type Response } from 'express';
import {
  type Manager,
  ownEnvironments,
  requireEvents,
  requireOwnEnvironments,
  seesEnvironments,
} from '../access/own-rights.js';
import type { Recorded } from '../audit/acting.http.js';
import { webhookPath } from '../audit/targets.js';
import { accountId, found, json, managerOf, pageOf, webhookId } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';
import { present } from '../operations/ports.js';
import type { AccountStore } from './ports.js';

const DEFAULT_ROWS = 200;

interface WebhookName {
  readonly account_id: string;
  readonly webhook_id: string;
}

export interface WebhookRouteOptions {
  accounts: Pick<AccountStore, 'find'>;
  /** The query service; null if it is not part of the deployment. */
  webhooks: WebhookOperations | null;
  recorded: Recorded;
}

/**
 * POST, GET           …/webhooks
 * GET, PATCH, DELETE  …/webhooks/{webhook_id}
 * POST                …/webhooks/{webhook_id}/rotate, /replay and /test
 */
export function webhookRoutes(base: string, { accounts, webhooks, recorded }: WebhookRouteOptions): express.Router {
  const routes = express.Router({ caseSensitive: true });
  const owner = () => present(webhooks, 'query');
  async function account(req: Request, res: Response): Promise<string> {
    requireEvents(managerOf(res));
    return found(await accounts.find(accountId(req, res)), 'account').id;
  }

  /** The webhook of the path. One that the manager does not see is 404. */
  async function nameOf(req: Request, res: Response): Promise<WebhookName> {
    const manager = managerOf(res);
    requireEvents(manager);
    const name = { account_id: accountId(req, res), webhook_id: webhookId(req) };
    if (manager === null) return name;
    const { environments } = await owner().findWebhook(name);
    return found(seesEnvironments(manager, environments) ? name : null, 'webhook');
  }

  const act = (verb: string, { account_id, webhook_id }: WebhookName, details = {}) => ({
    action: `webhook.${verb}`,
    target: webhookPath(account_id, webhook_id),
    details,
  });

  routes
    .route(`${base}/webhooks`)
    .post(json, async (req: Request, res: Response) => {
      const webhook = validate(newWebhookOf(managerOf(res)), req.body, 'body');
      const name = { account_id: await account(req, res), webhook_id: randomUUID() };
      requireOwnEnvironments(managerOf(res), webhook.environments);
      const create = () => owner().createWebhook({ ...name, webhook });
      res.status(201).json(await recorded(req, res, act('create', name, { url: hostOf(webhook.url) }), create));
    })
    .get(async (req: Request, res: Response) => {
      const account_id = await account(req, res);
      const environments = [...ownEnvironments(managerOf(res))];
      res.json((await owner().listWebhooks({ account_id, environments, ...pageOf(req, DEFAULT_ROWS) })).webhooks);
    })
    .all(otherMethods('GET', 'POST'));
  routes
    .route(`${base}/webhooks/:webhookId`)
    .get(async (req: Request, res: Response) => {
      res.json(await owner().findWebhook(await nameOf(req, res)));
    })
    .patch(json, async (req: Request, res: Response) => {
      const change = validate(webhookChangeSchema, req.body, 'body');
      const name = await nameOf(req, res);
      const logged = { ...change, ...(change.url === undefined ? {} : { url: hostOf(change.url) }) };
      const run = () => owner().changeWebhook({ ...name, change });
      res.json(await recorded(req, res, act('update', name, logged), run));
    })
    .delete(async (req: Request, res: Response) => {
      const name = await nameOf(req, res);
      await recorded(req, res, act('delete', name), () => owner().deleteWebhook(name));
      res.status(204).end();
    })
    .all(otherMethods('GET', 'PATCH', 'DELETE'));
  routes
    .route(`${base}/webhooks/:webhookId/rotate`)
    .post(async (req: Request, res: Response) => {
      const name = await nameOf(req, res);
      res.json(await recorded(req, res, act('rotate', name), () => owner().rotateWebhook(name)));
    })
    .all(otherMethods('POST'));
  routes
    .route(`${base}/webhooks/:webhookId/replay`)
    .post(json, async (req: Request, res: Response) => {
      const { after } = validate(webhookReplaySchema, req.body, 'body');
      const name = await nameOf(req, res);
      await recorded(req, res, act('replay', name, { after }), () => owner().replayWebhook({ ...name, after }));
      res.status(202).json({});
    })
    .all(otherMethods('POST'));
  routes
    .route(`${base}/webhooks/:webhookId/test`)
    .post(async (req: Request, res: Response) => {
      const name = await nameOf(req, res);
      res.json(await recorded(req, res, act('test', name), () => owner().testWebhook(name)));
    })
    .all(otherMethods('POST'));
  return routes;
}

/** Without `environments`, a webhook gets the events of all that its maker has. */
function newWebhookOf(manager: Manager | null): typeof newWebhookSchema {
  const { environments } = newWebhookSchema.shape;
  return newWebhookSchema.extend({
    environments: environments.unwrap().default([...ownEnvironments(manager)]),
  });
}

/** The path and the query of an address may hold a secret, which the audit log must not keep. */
function hostOf(url: string): string {
  return new URL(url).origin;
}
