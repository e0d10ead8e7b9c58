import { z } from 'zod';
import { rebuildStateSchema } from '../api/admin/deployment.js';
import {
  createdWebhookSchema,
  newWebhookSchema,
  webhookChangeSchema,
  webhookReplaySchema,
  webhookSchema,
  webhookSecretSchema,
  webhookTestSchema,
} from '../api/admin/webhooks.js';
import { environmentSchema } from '../values.js';
import { type InternalHandlers, internalOperation } from './operation.js';

/** Operations of the query service for other services. */
export const QUERY_OPERATIONS = {
  /** Starts a rebuild of the read models and answers when it runs. 409 `conflict` while another one runs. */
  startRebuild: internalOperation('/internal/rebuild', ['gateway'], z.object({}), rebuildStateSchema),
  rebuildState: internalOperation('/internal/rebuild/state', ['gateway'], z.object({}), rebuildStateSchema),
} as const;
export type QueryOperations = InternalHandlers<typeof QUERY_OPERATIONS>;

const accountSchema = z.object({ account_id: z.string().min(1) });

const nameSchema = accountSchema.extend({ webhook_id: z.string().min(1) });

const nothing = z.object({});

/** Operations of the query service on the webhooks of accounts. 404 `not_found` if the account has no such webhook. */
export const WEBHOOK_OPERATIONS = {
  /** The caller makes the id, a UUID. 422 if the address is private and the deployment does not allow it. */
  createWebhook: internalOperation(
    '/internal/webhooks/create',
    ['gateway'],
    nameSchema.extend({ webhook: newWebhookSchema }),
    createdWebhookSchema,
  ),
  /** Those without other environments than these, the oldest first. */
  listWebhooks: internalOperation(
    '/internal/webhooks/list',
    ['gateway'],
    accountSchema.extend({
      limit: z.int(),
      offset: z.int(),
      environments: z.array(environmentSchema),
    }),
    z.object({ webhooks: z.array(webhookSchema) }),
  ),
  findWebhook: internalOperation('/internal/webhooks/find', ['gateway'], nameSchema, webhookSchema),
  /** A webhook that becomes inactive loses its waiting events. One that becomes active begins with the next event. */
  changeWebhook: internalOperation(
    '/internal/webhooks/change',
    ['gateway'],
    nameSchema.extend({ change: webhookChangeSchema }),
    webhookSchema,
  ),
  deleteWebhook: internalOperation('/internal/webhooks/delete', ['gateway'], nameSchema, nothing),
  rotateWebhook: internalOperation('/internal/webhooks/rotate', ['gateway'], nameSchema, webhookSecretSchema),
  /** 409 `conflict` for an inactive webhook, 410 `event_expired`, 422 `unknown_event`. */
  replayWebhook: internalOperation(
    '/internal/webhooks/replay',
    ['gateway'],
    nameSchema.extend(webhookReplaySchema.shape),
    nothing,
  ),
  testWebhook: internalOperation('/internal/webhooks/test', ['gateway'], nameSchema, webhookTestSchema),
} as const;
export type WebhookOperations = InternalHandlers<typeof WEBHOOK_OPERATIONS>;
