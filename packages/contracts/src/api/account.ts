import { z } from 'zod';
import { environmentSchema, named, pageQuerySchema, rncSchema } from '../values.js';
import { keyScopesSchema } from './admin/api-keys.js';
import { rangeWithNumbersSchema } from './admin/taxpayers.js';
import { SCOPES } from './key-rights.js';
import { publicOperations } from './operation.js';

/** Taxpayers in a response of `GET /account`: what is left of the ranges of each is counted. */
const MOST_OWN_TAXPAYERS = 100;

/** `GET /account`: what the key may do. It names only the taxpayers and the environments that the key serves. */
const ownAccountSchema = named('OwnAccount', {
  account: z.object({ id: z.string(), name: z.string() }).describe('The account of the key'),
  key: z
    .object({
      id: z.string(),
      name: z.string(),
      expires_at: z.string().nullable().describe('Time of expiry; null if the key does not expire'),
    })
    .describe('The key of this request'),
  environments: z.array(environmentSchema),
  scopes: keyScopesSchema,
  total_taxpayers: z.int().nonnegative().describe('Taxpayers that the key serves'),
  taxpayers: z
    .array(
      z.object({
        rnc: rncSchema,
        name: z.string(),
        active: z.boolean(),
        certificate_not_after: z
          .string()
          .nullable()
          .describe('The end of the stored certificate; null if none is stored'),
        ranges: z.array(rangeWithNumbersSchema),
      }),
    )
    .describe('The taxpayers that the key serves'),
});
export type OwnAccountBody = z.infer<typeof ownAccountSchema>;

/** The query of `GET /account`. */
export const ownAccountQuerySchema = pageQuerySchema().extend({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(MOST_OWN_TAXPAYERS)
    .default(MOST_OWN_TAXPAYERS)
    .describe('Maximum number of taxpayers in the response.'),
});

export const ACCOUNT = publicOperations('Account', 'gateway', {
  account: {
    route: 'GET /account',
    scopes: SCOPES,
    withoutEnvironment: true,
    summary: 'Returns what the API key may do',
    description:
      'The account, the environments and scopes of the key, and the taxpayers that it serves: when the certificate of each ends, and what is left of its ranges.',
    query: ownAccountQuerySchema.shape,
    response: ownAccountSchema,
  },
});
