import { encfSequence, RUN_ENVIRONMENTS } from '@ecf/domain';
import { z } from 'zod';
import { certificateFactsSchema, numberRangeSchema } from '../../events/taxpayer.js';
import {
  ecfTypeSchema,
  encfSchema,
  environmentSchema,
  freeTextSchema,
  named,
  pageQuerySchema,
  rncSchema,
  runSchema,
  timestampSchema,
} from '../../values.js';
import { faultSchema } from '../error-body.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';
import * as P from '../parameters.js';
import { activeSchema, displayNameSchema } from './accounts.js';

export const newTaxpayerSchema = z
  .strictObject({ rnc: rncSchema, name: displayNameSchema })
  .meta({ id: 'NewTaxpayer' });

/** A range with what is left of it; null if this deployment has no emission service. */
export const rangeWithNumbersSchema = numberRangeSchema
  .extend({
    next: encfSchema.nullable().meta({
      description: 'The next automatic number; null if none is left or the range is expired',
      examples: ['E310000000042'],
    }),
    remaining: z.int().nonnegative().nullable().describe('Numbers that are not used, cancelled or reserved'),
  })
  .meta({ id: 'RangeWithNumbers' });

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
  })
  .meta({ id: 'NewRanges' });

/** The query of `PUT .../ranges`. */
export const putRangesQuerySchema = z.object({
  remove: z
    .enum(['true', 'false'])
    .default('false')
    .describe('Whether the list may lack numbers that were used, or be empty.'),
});

function overlapping(ranges: readonly { env: string; from: string; to: string }[]): number[] {
  const order = ranges
    .map((range, index) => ({ ...range, index }))
    .sort((a, b) => a.env.localeCompare(b.env) || (a.from < b.from ? -1 : 1));
  return order
    .filter((range, i) => i > 0 && range.env === order[i - 1]?.env && range.from <= (order[i - 1]?.to ?? ''))
    .map((range) => range.index);
}

/** The logo on the printed forms of a taxpayer's documents. */
export const logoFactsSchema = named('LogoFacts', {
  content_type: z.enum(['image/png', 'image/jpeg']).describe('The kind of picture'),
  width: z.int().positive().describe('Pixels from left to right'),
  height: z.int().positive().describe('Pixels from top to bottom'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .describe('SHA-256 of the file in hexadecimal'),
});
export type LogoFacts = z.infer<typeof logoFactsSchema>;

const logoFile = (description: string) => ({
  'image/png': z.string().meta({ description, format: 'binary' }),
  'image/jpeg': z.string().meta({ description, format: 'binary' }),
});

const taxpayerSchema = named('Taxpayer', {
  rnc: rncSchema,
  name: z.string().describe('RazonSocial of the taxpayer'),
  active: z.boolean(),
  created_at: z.string(),
  certificate: certificateFactsSchema.nullable(),
  logo: logoFactsSchema.nullable().describe('The logo on printed forms; null without one'),
  ranges: z.array(numberRangeSchema),
});

const createdTaxpayerSchema = taxpayerSchema
  .extend({
    warnings: z.array(faultSchema).describe('What may be wrong with the number; it is registered all the same'),
  })
  .meta({ id: 'CreatedTaxpayer' });
export type RangeWithNumbers = z.infer<typeof rangeWithNumbersSchema>;
export type TaxpayerBody = z.infer<typeof taxpayerSchema>;

/** The body of `POST .../taxpayers/{rnc}/runs`. */
export const newRunSchema = z.strictObject({
  env: z
    .enum(RUN_ENVIRONMENTS, {
      error: `is ${RUN_ENVIRONMENTS.join(' or ')}: only there does the authority restart a certification set. Numbers of eCF are used for good`,
    })
    .describe('The environment in which the authority restarted the set'),
  reason: freeTextSchema
    .trim()
    .min(1)
    .max(1_000)
    .meta({
      description: 'Why the set was restarted, in your words; the audit log keeps it',
      examples: ['E320000000006 was rejected; the authority restarted the set'],
    }),
});

/** The response to a start. */
export const startedRunSchema = z.object({
  run: runSchema.meta({
    description: 'The number of the run that begins; the first documents of a taxpayer are run 1',
    examples: [2],
  }),
  env: z.enum(RUN_ENVIRONMENTS).describe('The environment of the run'),
  started_at: timestampSchema.describe('When it began. A document belongs to the run of its commit'),
  superseded: z.int().nonnegative().describe('Issued documents that now belong to the run before it'),
});
export type StartedRun = z.infer<typeof startedRunSchema>;

export const TAXPAYERS = operations<AdminOperation>('Taxpayers', {
  createTaxpayer: {
    route: 'POST /admin/accounts/{id}/taxpayers',
    role: 'operator',
    summary: 'Creates a taxpayer of an account',
    description: 'A taxpayer belongs to one account of the deployment. It can issue once a certificate is stored.',
    params: { id: P.accountId },
    body: newTaxpayerSchema,
    status: 201,
    response: createdTaxpayerSchema,
    errors: [...BODY_ERRORS, 'not_found', 'taxpayer_taken'],
  },
  listTaxpayers: {
    route: 'GET /admin/accounts/{id}/taxpayers',
    role: 'viewer',
    summary: 'Lists the taxpayers of an account',
    description: 'Oldest first.',
    params: { id: P.accountId },
    query: pageQuerySchema().shape,
    response: z.array(taxpayerSchema),
    errors: ['validation_error', 'not_found'],
  },
  findTaxpayer: {
    route: 'GET /admin/accounts/{id}/taxpayers/{rnc}',
    role: 'viewer',
    summary: 'Returns one taxpayer',
    description: 'With the facts of its certificate and its number ranges.',
    params: { id: P.accountId, rnc: P.rnc },
    response: taxpayerSchema,
    errors: ['not_found'],
  },
  setTaxpayerActive: {
    route: 'PATCH /admin/accounts/{id}/taxpayers/{rnc}',
    role: 'operator',
    summary: 'Activates or deactivates a taxpayer',
    description:
      'A taxpayer that is not active makes no new calls. Documents in progress are still followed to their end.',
    params: { id: P.accountId, rnc: P.rnc },
    body: activeSchema,
    response: taxpayerSchema,
    errors: [...BODY_ERRORS, 'not_found'],
  },
});

export const TAXPAYER_SETTINGS = operations<AdminOperation>('Taxpayers', {
  putCertificate: {
    route: 'PUT /taxpayers/{rnc}/certificate',
    role: 'operator',
    summary: 'Stores the certificate that signs for a taxpayer',
    description:
      'The file is opened with its password and stored sealed. It replaces the earlier one; documents in progress keep their signature.',
    params: { rnc: P.rnc },
    body: {
      'multipart/form-data': z.object({
        certificate: z.file().describe('PKCS#12 file (.p12, .pfx).'),
        password: z.string().describe('The password of the file.'),
      }),
    },
    response: certificateFactsSchema,
    errors: ['unsupported_media_type', 'validation_error', 'not_found'],
  },
  findCertificate: {
    route: 'GET /taxpayers/{rnc}/certificate',
    role: 'viewer',
    summary: 'Returns the facts of the stored certificate',
    description: 'The certificate itself cannot be read back.',
    params: { rnc: P.rnc },
    response: certificateFactsSchema,
    errors: ['not_found'],
  },
  putLogo: {
    route: 'PUT /taxpayers/{rnc}/logo',
    role: 'operator',
    summary: "Stores the logo on the printed forms of a taxpayer's documents",
    description:
      'The body is a PNG or JPEG with its content type, at most 1 MiB and 4,000,000 pixels. It is decoded once: a picture that is damaged, animated, interlaced or in CMYK colours is 422 with the remedy. The next printed form shows it.',
    params: { rnc: P.rnc },
    body: logoFile('The picture.'),
    response: logoFactsSchema,
    errors: ['unsupported_media_type', 'validation_error', 'not_found'],
  },
  findLogo: {
    route: 'GET /taxpayers/{rnc}/logo',
    role: 'viewer',
    summary: 'Returns the stored logo',
    description: 'The file as it was sent.',
    params: { rnc: P.rnc },
    response: logoFile('The picture.'),
    hasEtag: true,
    errors: ['not_found'],
  },
  deleteLogo: {
    route: 'DELETE /taxpayers/{rnc}/logo',
    role: 'operator',
    summary: 'Removes the stored logo',
    description: 'Later printed forms show no logo.',
    params: { rnc: P.rnc },
    status: 204,
    errors: ['not_found'],
  },
  putRanges: {
    route: 'PUT /taxpayers/{rnc}/ranges',
    role: 'operator',
    summary: "Replaces the taxpayer's number ranges",
    description:
      'An empty list is 422 if it would remove ranges. A list without numbers that were used, cancelled or reserved is 409 `range_in_use` and names them. With `remove=true` both are accepted. An API key replaces the ranges of its environments only. Automatic numbers are taken from these ranges. Used numbers stay used, also if their range is removed.',
    params: { rnc: P.rnc },
    query: putRangesQuerySchema.shape,
    body: newRangesSchema,
    response: z.array(numberRangeSchema),
    errors: [...BODY_ERRORS, 'not_found', 'range_in_use'],
  },
  findRanges: {
    route: 'GET /taxpayers/{rnc}/ranges',
    role: 'viewer',
    summary: "Returns the taxpayer's number ranges, and what is left of each",
    description: '`next` is the next automatic number of the range.',
    params: { rnc: P.rnc },
    response: z.array(rangeWithNumbersSchema),
    errors: ['not_found'],
  },
  startRun: {
    route: 'POST /taxpayers/{rnc}/runs',
    role: 'operator',
    summary: 'Begins a certification run after the authority restarted the set',
    description:
      'For TesteCF and CerteCF. Every document of the taxpayer in that environment becomes part of the run before: it is kept, its number is free, and lists leave it out unless `superseded=true` asks for it. Automatic numbers begin again at the first of each range. Undecided documents are followed to their end; documents that were not sent are withdrawn.',
    params: { rnc: P.rnc },
    body: newRunSchema,
    status: 201,
    response: startedRunSchema,
    errors: [...BODY_ERRORS, 'not_found', 'conflict', 'service_unavailable'],
  },
});
