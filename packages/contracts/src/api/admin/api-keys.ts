import { z } from 'zod';
import { environmentSchema, named, pageQuerySchema, rncSchema } from '../../values.js';
import { DEFAULT_SCOPES, SCOPES } from '../key-rights.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';
import * as P from '../parameters.js';
import { displayNameSchema } from './accounts.js';

const MOST_TAXPAYERS_OF_A_KEY = 1_000;

/** Hours that a replaced key may live on: 30 days. */
const MOST_OVERLAP_HOURS = 720;

const eachOnce = (list: readonly string[]) => new Set(list).size === list.length;

export const expirySchema = z.iso.datetime({
  offset: true,
  message: 'A time is ISO 8601 with offset, as 2027-01-31T00:00:00-04:00.',
});

export const keyScopesSchema = z.array(z.enum(SCOPES));

const keyTaxpayersSchema = z.array(rncSchema);

const refuseWarningsSchema = z
  .boolean()
  .describe('Whether a warning refuses a document where the request has no `warnings` parameter');

/**
 * `POST /admin/accounts/{id}/api-keys`. A key is for the sandbox environments or for eCF alone, so that a key of one never
 * works in the other. Without `taxpayers` it serves all taxpayers of the account.
 */
export const newApiKeySchema = z
  .strictObject({
    name: displayNameSchema.meta({ examples: ['erp'] }),
    environments: z
      .array(environmentSchema)
      .min(1, 'Name at least one environment.')
      .refine(eachOnce, 'An environment is listed twice.')
      .refine(
        (list) => !list.includes('eCF') || list.every((env) => env === 'eCF'),
        'A key is either for TesteCF and CerteCF or for eCF alone; make one key for each.',
      ),
    scopes: keyScopesSchema
      .min(1, 'Name at least one scope.')
      .refine(eachOnce, 'A scope is listed twice.')
      .default([...DEFAULT_SCOPES]),
    taxpayers: keyTaxpayersSchema
      .min(1, 'Name at least one RNC, or leave taxpayers out for all of the account.')
      .max(MOST_TAXPAYERS_OF_A_KEY, `At most ${MOST_TAXPAYERS_OF_A_KEY} RNCs.`)
      .refine(eachOnce, 'An RNC is listed twice.')
      .nullish()
      .default(null),
    expires_at: expirySchema.nullish().default(null),
    refuse_warnings: refuseWarningsSchema.default(false),
  })
  .meta({ id: 'NewApiKey' });

/** `PATCH /admin/accounts/{id}/api-keys/{key_id}`. The rights of a key never change. */
export const changeApiKeySchema = z
  .strictObject({ refuse_warnings: refuseWarningsSchema })
  .meta({ id: 'ChangeApiKey' });

export const rotateApiKeySchema = z
  .strictObject({
    overlap_hours: z
      .number()
      .min(0, 'overlap_hours is 0 or more.')
      .max(MOST_OVERLAP_HOURS, `overlap_hours is at most ${MOST_OVERLAP_HOURS}.`)
      .default(24)
      .describe('Hours that the replaced key stays valid'),
  })
  .meta({ id: 'RotateApiKey' });

const apiKeySchema = named('ApiKey', {
  id: z.string(),
  name: z.string().meta({ examples: ['erp'] }),
  environments: z.array(environmentSchema),
  scopes: keyScopesSchema,
  taxpayers: keyTaxpayersSchema.nullable(),
  refuse_warnings: refuseWarningsSchema,
  hint: z.string().describe('The first characters of the key'),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  last_used_at: z.string().nullable().describe('When it was last used, up to a minute late; null if it was not'),
  revoked_at: z.string().nullable().describe('When it was revoked; null if it was not'),
});

/** Response of `POST .../api-keys`, the only one that shows the key. */
const createdApiKeySchema = named('CreatedApiKey', {
  id: z.string(),
  key: z.string(),
  name: z.string().meta({ examples: ['erp'] }),
  environments: z.array(environmentSchema),
  scopes: keyScopesSchema,
  taxpayers: keyTaxpayersSchema.nullable(),
  refuse_warnings: refuseWarningsSchema,
  expires_at: z.string().nullable(),
});

const rotatedApiKeySchema = named('RotatedApiKey', { id: z.string(), key: z.string() });
export type ApiKeyBody = z.infer<typeof apiKeySchema>;

export const API_KEYS = operations<AdminOperation>('API keys', {
  createApiKey: {
    route: 'POST /api-keys',
    role: 'owner',
    summary: 'Creates an API key; only this response shows it',
    description:
      'A key is for TesteCF and CerteCF or for eCF alone. `scopes` (default: all but `manage`) are `submit` (the submissions, /obtain_token), `cancel` (POST /anecf), `approve` (POST /acecf), `receive` (received documents, /arecf, GET /acecf, decisions of buyers), `read` (every other GET) and `manage` (the settings of the account under /account). `taxpayers` limits the key to these RNCs.',
    body: newApiKeySchema,
    status: 201,
    response: createdApiKeySchema,
    errors: [...BODY_ERRORS, 'not_found'],
  },
  listApiKeys: {
    route: 'GET /api-keys',
    role: 'viewer',
    summary: 'Lists the API keys of an account',
    description: 'Revoked and expired keys are listed too. The keys themselves are not shown.',
    query: pageQuerySchema().shape,
    response: z.array(apiKeySchema),
    errors: ['validation_error', 'not_found'],
  },
  findApiKey: {
    route: 'GET /api-keys/{keyId}',
    role: 'viewer',
    summary: 'Returns one API key',
    description: 'The key itself is not shown.',
    params: { keyId: P.keyId },
    response: apiKeySchema,
    errors: ['not_found'],
  },
  changeApiKey: {
    route: 'PATCH /api-keys/{keyId}',
    role: 'owner',
    summary: 'Changes the defaults of an API key',
    description: 'The rights of a key never change; make a new key for other rights.',
    params: { keyId: P.keyId },
    body: changeApiKeySchema,
    response: apiKeySchema,
    errors: [...BODY_ERRORS, 'not_found'],
  },
  revokeApiKey: {
    route: 'DELETE /api-keys/{keyId}',
    role: 'owner',
    summary: 'Revokes an API key immediately',
    description: 'Requests with the key are refused from now on. It cannot be undone.',
    params: { keyId: P.keyId },
    status: 204,
    errors: ['not_found'],
  },
  rotateApiKey: {
    route: 'POST /api-keys/{keyId}/rotate',
    role: 'owner',
    summary: 'Replaces an API key by a new one with the same rights; only this response shows it',
    description:
      'The old key works for `overlap_hours` more (0 to 720, default 24), so that its users can change over; 0 ends it immediately. The new key has its own id.',
    params: { keyId: P.keyId },
    body: rotateApiKeySchema,
    response: rotatedApiKeySchema,
    errors: [...BODY_ERRORS, 'not_found', 'conflict'],
  },
});
