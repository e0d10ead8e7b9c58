import { z } from 'zod';
import { environmentSchema, timestampSchema } from '../../environment.js';
import { EVENT_TYPES } from '../../events/public-event.js';
import type { InternalHandlers } from './internal.js';

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
/** `POST .../replay`. */
export const webhookReplaySchema = z.strictObject({
  after: z.string().max(100).meta({ description: 'The id of an event: those after it are posted again' }),
});

export const webhookSchema = z.object({
  id: z.string(),
  url: z.string(),
  /** Null = every type. */
  types: z.array(z.enum(EVENT_TYPES)).nullable(),
  environments: z.array(environmentSchema),
  active: z.boolean(),
  created_at: timestampSchema,
  last_success_at: timestampSchema.nullable(),
  /** Time of the first failure since the last success; null if the last delivery succeeded. */
  failing_since: timestampSchema.nullable(),
  pending: z.number().int().nonnegative().meta({ description: 'Events that wait for their delivery' }),
  /** Events that were given up. */
  dropped: z.number().int().nonnegative(),
});
export type WebhookBody = z.infer<typeof webhookSchema>;
/** Answer of `POST .../webhooks`, which shows the secret. */
export const createdWebhookSchema = webhookSchema
  .pick({ id: true, url: true, types: true, environments: true, active: true })
  .extend({ secret: z.string() });
/** Answer of `POST .../rotate`, which shows the new secret. */
export const webhookSecretSchema = z.object({ secret: z.string() });
/** Answer of `POST .../test`. */
export const webhookTestSchema = z.object({
  status: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'The HTTP status of the receiver; null if it did not answer' }),
  duration_ms: z.number().int().nonnegative(),
  error: z.string().nullable().meta({ description: 'Why the receiver did not answer; null if it did' }),
});

const accountSchema = z.object({ account_id: z.string().min(1) });
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
      limit: z.number().int(),
      offset: z.number().int(),
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
