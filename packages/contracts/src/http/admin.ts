import { z } from 'zod';
import { ecfTypeSchema, encfSchema, environmentSchema, freeTextSchema, rncSchema } from '../environment.js';
import { numberRangeSchema } from '../events/taxpayer.js';

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
/** `POST /admin/accounts/{id}/api-keys` */
export const newApiKeySchema = z.strictObject({
  name: nameSchema,
  environments: z
    .array(environmentSchema)
    .min(1, 'Name at least one environment.')
    .refine((list) => new Set(list).size === list.length, 'An environment stands twice.'),
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
export const certificateFactsSchema = z.object({
  subject: z.string(),
  serial_number: z.string(),
  not_before: z.string(),
  not_after: z.string(),
  fingerprint: z.string(),
});
export const taxpayerSchema = z.object({
  rnc: rncSchema,
  name: z.string(),
  active: z.boolean(),
  created_at: z.string(),
  certificate: certificateFactsSchema.nullable(),
  ranges: z.array(numberRangeSchema),
});
export const apiKeySchema = z.object({
  id: z.string(),
  name: z.string(),
  environments: z.array(environmentSchema),
  /** First characters of the key. */
  hint: z.string(),
  created_at: z.string(),
  revoked_at: z.string().nullable(),
});
/** Answer of `POST .../api-keys`, the only one that shows the key. */
export const createdApiKeySchema = z.object({
  id: z.string(),
  key: z.string(),
  name: z.string(),
  environments: z.array(environmentSchema),
});

export type AccountBody = z.infer<typeof accountSchema>;
export type TaxpayerBody = z.infer<typeof taxpayerSchema>;
export type CertificateFactsBody = z.infer<typeof certificateFactsSchema>;
export type ApiKeyBody = z.infer<typeof apiKeySchema>;
