import { z } from 'zod';
import { environmentSchema, pageQuerySchema, timestampSchema } from '../../values.js';
import { EVENT_TYPES } from '../events.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';
import * as P from '../parameters.js';

const MAX_URL = 2_000;

/** Hours in which the former secret of a webhook signs too. */
export const WEBHOOK_OVERLAP_HOURS = 24;

/** Hours after which an event is given up that a webhook does not take. */
export const WEBHOOK_HOURS = 72;

const eachOnce = (list: readonly string[]) => new Set(list).size === list.length;

const urlSchema = z
  .string()
  .max(MAX_URL, `An address has at most ${MAX_URL} characters.`)
  .refine(
    isAddress,
    'An address is https:// or http:// with a host, without user, password, fragment, blanks and control characters, as https://erp.example.do/events.',
  );

const typesSchema = z
  .array(z.enum(EVENT_TYPES))
  .min(1, 'Name at least one type of event, or null for every type.')
  .refine(eachOnce, 'A type of event is listed twice.')
  .nullable();

const environmentsSchema = z
  .array(environmentSchema)
  .min(1, 'Name at least one environment.')
  .refine(eachOnce, 'An environment is listed twice.');

function isAddress(text: string): boolean {
  if (/[\s\p{C}]/u.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  if (!['https:', 'http:'].includes(url.protocol)) return false;
  return url.username === '' && url.password === '' && !text.includes('#');
}

/** `POST /admin/accounts/{id}/webhooks`. Without `types` it gets every type, without `environments` those of all three, or of the API key. */
export const newWebhookSchema = z.strictObject({
  url: urlSchema,
  types: typesSchema.default(null),
  environments: environmentsSchema.default(['TesteCF', 'CerteCF', 'eCF']),
});

/** `PATCH /admin/accounts/{id}/webhooks/{webhook_id}`. A field that is left out does not change. */
export const webhookChangeSchema = z
  .strictObject({ active: z.boolean().optional(), url: urlSchema.optional(), types: typesSchema.optional() })
  .refine((change) => Object.keys(change).length > 0, 'Name active, url or types.');

export const webhookReplaySchema = z.strictObject({
  after: z.string().max(100).describe('The id of an event: those after it are posted again'),
});

export const webhookSchema = z.object({
  id: z.string(),
  url: z.string(),
  types: z.array(z.enum(EVENT_TYPES)).nullable().describe('The types of events that are posted; null for every type'),
  environments: z.array(environmentSchema),
  active: z.boolean(),
  created_at: timestampSchema,
  last_success_at: timestampSchema.nullable().describe('When a post last succeeded; null if none has'),
  failing_since: timestampSchema.nullable().describe('Since when posts fail; null if the last one succeeded'),
  pending: z.int().nonnegative().describe('Events that wait for their delivery'),
  dropped: z.int().nonnegative().describe('Events that were given up'),
});
export type WebhookBody = z.infer<typeof webhookSchema>;

/** Response of `POST .../webhooks`, which shows the secret. */
export const createdWebhookSchema = webhookSchema
  .pick({ id: true, url: true, types: true, environments: true, active: true })
  .extend({ secret: z.string() });

/** Response of `POST .../rotate`, which shows the new secret. */
export const webhookSecretSchema = z.object({ secret: z.string() });

export const webhookTestSchema = z.object({
  status: z
    .int()
    .nullable()
    .meta({ description: 'The HTTP status of the receiver; null if it did not answer', examples: [204] }),
  duration_ms: z.int().nonnegative().describe('How long the answer took, in milliseconds; null without one'),
  error: z
    .string()
    .nullable()
    .meta({ description: 'Why the receiver did not answer; null if it did', examples: [null] }),
});

export const WEBHOOKS = operations<AdminOperation>('Webhooks', {
  createWebhook: {
    route: 'POST /webhooks',
    role: 'operator',
    summary: "Creates a webhook: a receiver of the account's events; only this response shows its secret",
    description:
      'The webhook gets the events from now on. Without `types` it gets every type, without `environments` events of all three environments, or of those of the API key. An account has at most 100 webhooks. Calls are signed as Standard Webhooks says.',
    body: newWebhookSchema,
    status: 201,
    response: createdWebhookSchema,
    errors: [...BODY_ERRORS, 'not_found', 'conflict', 'service_unavailable'],
  },
  listWebhooks: {
    route: 'GET /webhooks',
    role: 'viewer',
    summary: 'Lists the webhooks of an account',
    description: 'The secrets are not shown.',
    query: pageQuerySchema(200).shape,
    response: z.array(webhookSchema),
    errors: ['validation_error', 'not_found', 'service_unavailable'],
  },
  findWebhook: {
    route: 'GET /webhooks/{webhookId}',
    role: 'viewer',
    summary: 'Returns one webhook',
    description: '`pending`, `dropped` and `failing_since` show whether the receiver works.',
    params: { webhookId: P.webhookId },
    response: webhookSchema,
    errors: ['not_found', 'service_unavailable'],
  },
  changeWebhook: {
    route: 'PATCH /webhooks/{webhookId}',
    role: 'operator',
    summary: 'Changes a webhook; omitted fields stay as they are',
    description:
      'A webhook that becomes inactive loses its waiting events and collects none. One that becomes active begins with the next event; a replay fills the gap.',
    params: { webhookId: P.webhookId },
    body: webhookChangeSchema.meta({ examples: [{ active: true }] }),
    response: webhookSchema,
    errors: [...BODY_ERRORS, 'not_found', 'service_unavailable'],
  },
  deleteWebhook: {
    route: 'DELETE /webhooks/{webhookId}',
    role: 'operator',
    summary: 'Deletes a webhook and its waiting events',
    description: 'Its events stay in the feed, GET /events.',
    params: { webhookId: P.webhookId },
    status: 204,
    errors: ['not_found', 'service_unavailable'],
  },
  rotateWebhook: {
    route: 'POST /webhooks/{webhookId}/rotate',
    role: 'operator',
    summary: 'Gives a webhook a new secret; only this response shows it',
    description: 'For 24 hours the former secret signs too: `webhook-signature` then has both signatures.',
    params: { webhookId: P.webhookId },
    response: webhookSecretSchema,
    errors: ['not_found', 'service_unavailable'],
  },
  replayWebhook: {
    route: 'POST /webhooks/{webhookId}/replay',
    role: 'operator',
    summary: 'Delivers the events after an event of the feed again',
    description:
      'For a receiver that lost events. Each event keeps its id, so the receiver can see which ones it already has.',
    params: { webhookId: P.webhookId },
    body: webhookReplaySchema.meta({ examples: [{ after: '1-5c0f31aa' }] }),
    status: 202,
    response: z.looseObject({}),
    errors: [...BODY_ERRORS, 'not_found', 'conflict', 'event_expired', 'unknown_event', 'service_unavailable'],
  },
  testWebhook: {
    route: 'POST /webhooks/{webhookId}/test',
    role: 'operator',
    summary: 'Calls the receiver once with an event of the type `webhook.test`',
    description: 'The response has the status of the receiver, or the reason why it did not answer.',
    params: { webhookId: P.webhookId },
    response: webhookTestSchema,
    errors: ['not_found', 'service_unavailable'],
  },
});
