import { z } from 'zod';
import {
  createdWebhookSchema,
  newWebhookSchema,
  webhookChangeSchema,
  webhookReplaySchema,
  webhookSchema,
  webhookSecretSchema,
  webhookTestSchema,
} from '../api/admin/webhooks.js';
import { environmentSchema, named } from '../environment.js';
import type { InternalHandlers } from './internal.js';

const accountSchema = named('Account', { account_id: z.string().min(1) });

const nameSchema = accountSchema.extend({ webhook_id: z.string().min(1) });

const nothing = z.object({});

/** Operations of the query service on the webhooks of accounts. 404 `not_found` if the account has no such webhook. */
export const WEBHOOK_OPERATIONS = {
  /** The caller makes the id, a UUID. 422 if the address is private and the deployment does not allow it. */
  createWebhook: {
    path: '/internal/webhooks/create',
    callers: ['gateway'],
    request: nameSchema.extend({ webhook: newWebhookSchema }),
    answer: createdWebhookSchema,
  },
  /** Those without other environments than these, the oldest first. */
  listWebhooks: {
    path: '/internal/webhooks/list',
    callers: ['gateway'],
    request: accountSchema.extend({
      limit: z.int(),
      offset: z.int(),
      environments: z.array(environmentSchema),
    }),
    answer: z.object({ webhooks: z.array(webhookSchema) }),
  },
  findWebhook: { path: '/internal/webhooks/find', callers: ['gateway'], request: nameSchema, answer: webhookSchema },
  /** A webhook that becomes inactive loses its waiting events. One that becomes active begins with the next event. */
  changeWebhook: {
    path: '/internal/webhooks/change',
    callers: ['gateway'],
    request: nameSchema.extend({ change: webhookChangeSchema }),
    answer: webhookSchema,
  },
  deleteWebhook: { path: '/internal/webhooks/delete', callers: ['gateway'], request: nameSchema, answer: nothing },
  rotateWebhook: {
    path: '/internal/webhooks/rotate',
    callers: ['gateway'],
    request: nameSchema,
    answer: webhookSecretSchema,
  },
  /** 409 `conflict` for an inactive webhook, 410 `event_expired`, 422 `unknown_event`. */
  replayWebhook: {
    path: '/internal/webhooks/replay',
    callers: ['gateway'],
    request: nameSchema.extend(webhookReplaySchema.shape),
    answer: nothing,
  },
  testWebhook: {
    path: '/internal/webhooks/test',
    callers: ['gateway'],
    request: nameSchema,
    answer: webhookTestSchema,
  },
} as const;

export type WebhookOperations = InternalHandlers<typeof WEBHOOK_OPERATIONS>;
