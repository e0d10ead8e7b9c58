import { encfSequence, RUN_ENVIRONMENTS } from '@ecf/domain';
import { z } from 'zod';
import {
  ecfTypeSchema,
  encfSchema,
  environmentSchema,
  freeTextSchema,
  rncSchema,
  runSchema,
  timestampSchema,
} from '../environment.js';
import { certificateFactsSchema, numberRangeSchema } from '../events/taxpayer.js';
import { faultSchema } from './error-body.js';
import { DEFAULT_SCOPES, SCOPES } from './key-rights.js';
import { ROLES } from './own-operations.js';

/** A name for people: 1 to 200 characters without control characters. */
const nameSchema = freeTextSchema
  .trim()
  .min(1, 'A name is required.')
  .max(200, 'A name has at most 200 characters.')
  .regex(/^\P{Cc}*$/u, 'A name has no control characters.');

/** `POST /admin/accounts` */
export const newAccountSchema = z.strictObject({ name: nameSchema });
/** `PATCH /admin/accounts/{id}` and `.../taxpayers/{rnc}` */
export const activeSchema = z.strictObject({ active: z.boolean() });
/** `POST /admin/accounts/{id}/taxpayers` */
export const newTaxpayerSchema = z.strictObject({ rnc: rncSchema, name: nameSchema });
const MOST_TAXPAYERS_OF_A_KEY = 1_000;
/** Hours that a replaced key may live on: 30 days. */
const MOST_OVERLAP_HOURS = 720;

const eachOnce = (list: readonly string[]) => new Set(list).size === list.length;
const expirySchema = z.iso.datetime({
  offset: true,
  message: 'A time is ISO 8601 with offset, as 2027-01-31T00:00:00-04:00.',
});
const keyScopesSchema = z.array(z.enum(SCOPES));
const keyTaxpayersSchema = z.array(rncSchema);
const refuseWarningsSchema = z.boolean().meta({
  description: 'Whether a warning refuses a document where the request has no `warnings` parameter',
});

/**
 * `POST /admin/accounts/{id}/api-keys`. A key is for the sandbox environments or for eCF alone, so that a key of one never
 * works in the other. Without `taxpayers` it serves all taxpayers of the account.
 */
export const newApiKeySchema = z.strictObject({
  name: nameSchema,
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
});
/** How the holder of ADMIN_TOKEN is named wherever an administrator is. */
export const ADMIN_TOKEN_ACTOR = 'ADMIN_TOKEN';

/**
 * A name in the audit log, where two that look alike would hide who acted: compatibility forms become plain characters (NFKC,
 * full-width `Ａ` is `A`), runs of blanks become one, and only printable ASCII is left. Names with a colon are those of keys,
 * senders and services.
 */
const administratorNameSchema = nameSchema.pipe(
  z
    .string()
    .normalize('NFKC')
    .trim()
    .overwrite((name) => name.replace(/ +/g, ' '))
    .max(200, 'A name has at most 200 characters.')
    .regex(
      /^[\x20-\x7e]*$/,
      'The name of an administrator has printable ASCII characters only, so that no two look alike; write it without accents.',
    )
    .refine(
      (name) => !name.includes(':') && name.toUpperCase() !== ADMIN_TOKEN_ACTOR,
      `The name of an administrator has no colon and is not ${ADMIN_TOKEN_ACTOR}.`,
    ),
);

/** `POST /admin/administrators` */
export const newAdministratorSchema = z.strictObject({
  name: administratorNameSchema,
  role: z.enum(ROLES),
  expires_at: expirySchema.nullish().default(null),
});
export const administratorSchema = z.object({
  id: z.string(),
  name: z.string(),
  role: z.enum(ROLES),
  created_at: z.string(),
  expires_at: z.string().nullable(),
});
/** Answer of `POST /admin/administrators`, the only one that shows the token. */
export const createdAdministratorSchema = z.object({
  id: z.string(),
  token: z.string().meta({ description: 'The token; no later answer shows it again' }),
});
export type AdministratorBody = z.infer<typeof administratorSchema>;

/** `PATCH /admin/accounts/{id}/api-keys/{key_id}`. The rights of a key never change. */
export const changeApiKeySchema = z.strictObject({ refuse_warnings: refuseWarningsSchema });

/** `POST /admin/accounts/{id}/api-keys/{key_id}/rotate`: the replaced key stays valid for `overlap_hours`. */
export const rotateApiKeySchema = z.strictObject({
  overlap_hours: z
    .number()
    .min(0, 'overlap_hours is 0 or more.')
    .max(MOST_OVERLAP_HOURS, `overlap_hours is at most ${MOST_OVERLAP_HOURS}.`)
    .default(24),
});

/** A range with what is left of it; null if this deployment has no emission service. */
export const rangeWithNumbersSchema = numberRangeSchema.extend({
  next: encfSchema
    .nullable()
    .meta({ description: 'The next automatic number; null if none is left or the range is expired' }),
  remaining: z
    .number()
    .int()
    .nonnegative()
    .nullable()
    .meta({ description: 'Numbers that are not used, cancelled or reserved' }),
});

/** Taxpayers in an answer of `GET /account`: what is left of the ranges of each is counted. */
export const MOST_OWN_TAXPAYERS = 100;

/** `GET /account`: what the key may do. It names only the taxpayers and the environments that the key serves. */
export const ownAccountSchema = z.object({
  account: z.object({ id: z.string(), name: z.string() }).meta({ description: 'The account of the key' }),
  key: z
    .object({
      id: z.string(),
      name: z.string(),
      expires_at: z.string().nullable().meta({ description: 'Time of expiry; null if the key does not expire' }),
    })
    .meta({ description: 'The key of this request' }),
  environments: z.array(environmentSchema),
  scopes: keyScopesSchema,
  total_taxpayers: z.number().int().nonnegative().meta({ description: 'Taxpayers that the key serves' }),
  taxpayers: z
    .array(
      z.object({
        rnc: rncSchema,
        name: z.string(),
        active: z.boolean(),
        certificate_not_after: z
          .string()
          .nullable()
          .meta({ description: 'The end of the stored certificate; null if none is stored' }),
        ranges: z.array(rangeWithNumbersSchema),
      }),
    )
    .meta({ description: 'The taxpayers that the key serves' }),
});

const MOST_RANGES = 1_000;

/** `PUT /admin/accounts/{id}/taxpayers/{rnc}/ranges`: all ranges of the taxpayer; they replace the earlier ones. */
export const newRangesSchema = z
  .array(
    z
      .strictObject({
        env: environmentSchema,
        ecf_type: ecfTypeSchema,
        from: encfSchema,
        to: encfSchema,
        expires: z.iso.date('A date is YYYY-MM-DD.').nullish().default(null),
      })
      .superRefine((range, context) => {
        for (const end of ['from', 'to'] as const)
          if (range[end].slice(1, 3) !== range.ecf_type)
            context.addIssue({
              code: 'custom',
              path: [end],
              message: `${range[end]} is not a number of type ${range.ecf_type}.`,
            });
        // No document may have it, so it would stop the automatic numbers of its type.
        if (encfSequence(range.from) === 0)
          context.addIssue({ code: 'custom', path: ['from'], message: `${range.from} has the sequence zero.` });
        if (range.from > range.to)
          context.addIssue({ code: 'custom', path: ['to'], message: 'The range ends before it begins.' });
      }),
  )
  .max(MOST_RANGES, `At most ${MOST_RANGES} ranges.`)
  .superRefine((ranges, context) => {
    for (const index of overlapping(ranges))
      context.addIssue({
        code: 'custom',
        path: [index],
        message: 'The range overlaps another of the same environment and type.',
      });
  });

/** The query of `PUT .../ranges`. */
export const putRangesQuerySchema = z.object({ remove: z.enum(['true', 'false']).default('false') });

function overlapping(ranges: readonly { env: string; from: string; to: string }[]): number[] {
  const order = ranges
    .map((range, index) => ({ ...range, index }))
    .sort((a, b) => a.env.localeCompare(b.env) || (a.from < b.from ? -1 : 1));
  return order
    .filter((range, i) => i > 0 && range.env === order[i - 1]?.env && range.from <= (order[i - 1]?.to ?? ''))
    .map((range) => range.index);
}

export const accountSchema = z.object({
  id: z.string(),
  name: z.string(),
  active: z.boolean(),
  created_at: z.string(),
});
export const taxpayerSchema = z.object({
  rnc: rncSchema,
  name: z.string().meta({ description: 'RazonSocial of the taxpayer' }),
  active: z.boolean(),
  created_at: z.string(),
  certificate: certificateFactsSchema.nullable(),
  ranges: z.array(numberRangeSchema),
});
/** Answer of `POST .../taxpayers`. */
export const createdTaxpayerSchema = taxpayerSchema.extend({
  warnings: z
    .array(faultSchema)
    .meta({ description: 'What may be wrong with the number; it is registered all the same' }),
});
export const apiKeySchema = z.object({
  id: z.string(),
  name: z.string(),
  environments: z.array(environmentSchema),
  scopes: keyScopesSchema,
  /** Null = all taxpayers of the account. */
  taxpayers: keyTaxpayersSchema.nullable(),
  refuse_warnings: refuseWarningsSchema,
  /** First characters of the key. */
  hint: z.string(),
  created_at: z.string(),
  expires_at: z.string().nullable(),
  /** Up to a minute late. */
  last_used_at: z.string().nullable(),
  revoked_at: z.string().nullable(),
});
/** Answer of `POST .../api-keys`, the only one that shows the key. */
export const createdApiKeySchema = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  environments: z.array(environmentSchema),
  scopes: keyScopesSchema,
  taxpayers: keyTaxpayersSchema.nullable(),
  refuse_warnings: refuseWarningsSchema,
  expires_at: z.string().nullable(),
});
/** Answer of `POST .../api-keys/{key_id}/rotate`. */
export const rotatedApiKeySchema = z.object({ id: z.string(), key: z.string() });

export type RangeWithNumbers = z.infer<typeof rangeWithNumbersSchema>;
export type OwnAccountBody = z.infer<typeof ownAccountSchema>;
export type AccountBody = z.infer<typeof accountSchema>;
export type TaxpayerBody = z.infer<typeof taxpayerSchema>;
export type ApiKeyBody = z.infer<typeof apiKeySchema>;

/** The body of `POST .../taxpayers/{rnc}/runs`. */
export const newRunSchema = z.strictObject({
  env: z
    .enum(RUN_ENVIRONMENTS, {
      error: `is ${RUN_ENVIRONMENTS.join(' or ')}: only there does the authority restart a certification set. Numbers of eCF are used for good`,
    })
    .meta({ description: 'The environment in which the authority restarted the set' }),
  reason: freeTextSchema
    .trim()
    .min(1)
    .max(1_000)
    .meta({ description: 'Why the set was restarted, in your words; the audit log keeps it' }),
});

/** The answer to a start. */
export const startedRunSchema = z.object({
  run: runSchema.meta({
    description: 'The number of the run that begins; the first documents of a taxpayer are run 1',
  }),
  env: z.enum(RUN_ENVIRONMENTS).meta({ description: 'The environment of the run' }),
  started_at: timestampSchema.meta({ description: 'When it began. A document belongs to the run of its commit' }),
  superseded: z
    .number()
    .int()
    .nonnegative()
    .meta({ description: 'Issued documents that now belong to the run before it' }),
});
export type StartedRun = z.infer<typeof startedRunSchema>;
