import { z } from 'zod';
import {
  encfSchema,
  environmentSchema,
  freeTextSchema,
  givenTrackIdSchema,
  rncSchema,
  runSchema,
  timestampSchema,
} from '../../environment.js';
import { numberRangeSchema } from '../../events/taxpayer.js';
import { newRunSchema, startedRunSchema } from '../admin.js';
import { actedSchema } from '../audit.js';
import { MAX_CANCELLATION_RANGES } from '../cancellation.js';
import type { InternalHandlers } from './internal.js';

/** A document that needs a person. */
const alarmedDocumentSchema = z.object({
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  run: runSchema.meta({ description: 'The certification run of the issuer; 1 in eCF' }),
  account_id: z.string(),
  /** State of the attempt. */
  state: z.string(),
  /** `no-query`, `no-certificate`, `document-lost`, `overdue`, `contingency-late`. */
  alarm: z.string(),
  committed_at: timestampSchema,
});

/** The filter of the documents with an alarm. */
export const alarmedFilterSchema = z.object({
  env: environmentSchema.optional(),
  issuer_rnc: rncSchema.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  /** Where to continue: `next` of the answer. */
  after: z.coerce.number().int().nonnegative().default(0),
});

/** In the order of their submission; `next` is null at the end. */
export const alarmedPageSchema = z.object({
  documents: z.array(alarmedDocumentSchema),
  next: z.number().int().nullable(),
});

/** A person's decision about a document that the gateway cannot query. */
export const resolutionSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    run: runSchema.optional().meta({
      description:
        'The certification run of the document, as the list of alarms states it; absent means the present one',
    }),
    action: z.enum(['adopt', 'resend']).meta({
      description:
        'adopt: the authority has the document, under track_id. resend: it does not, and the gateway sends the same bytes again',
    }),
    track_id: givenTrackIdSchema
      .optional()
      .meta({ description: 'The trackId at the authority; required with adopt, not allowed with resend' }),
  })
  .refine(({ action, track_id }) => (action === 'adopt') === (track_id !== undefined), {
    path: ['track_id'],
    message: 'is required with adopt, and belongs to it alone',
  });

/** The result. */
export const resolvedDocumentSchema = z.object({
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  state: z.string(),
  status: z.string(),
  track_id: z.string().nullable(),
  adopted: z.boolean().meta({ description: 'Whether the trackId was adopted by this request' }),
  resent: z.boolean().meta({ description: 'Whether this request made the gateway send the bytes again' }),
});

/** A cancellation that needs a person, or that a person settled. */
export const doubtfulCancellationSchema = z.object({
  id: z.number().int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  account_id: z.string(),
  authority_status: z.string().meta({ description: 'The status of the cancellation' }),
  /** `cancellation-open`, `cancellation-unreadable`, `cancellation-overdue`; null once it is settled. */
  alarm: z.string().nullable(),
  total_encf_canceled: z.number().int().positive(),
  /** Its first numbers, in a form for people. */
  numbers: z.string(),
  /** The beginning of the authority's last answer. */
  authority_response: z.string().nullable(),
  created_at: timestampSchema,
  settled_at: timestampSchema.nullable(),
  note: z.string().nullable(),
});

/** Which cancellations to list: those with an alarm, or those that a person settled. */
export const doubtfulFilterSchema = alarmedFilterSchema.extend({
  settled: z.enum(['true', 'false']).default('false'),
  limit: z.coerce.number().int().min(1).max(100).default(100),
});

/** In the order of their ids; `next` is null at the end. */
export const doubtfulPageSchema = z.object({
  cancellations: z.array(doubtfulCancellationSchema),
  next: z.number().int().nullable(),
});

/** The outcome of a cancellation that a person found out. */
export const settlementSchema = z
  .object({
    id: z.number().int().positive(),
    outcome: z.enum(['accepted', 'rejected', 'partial']).meta({
      description: 'accepted: all numbers are annulled. rejected: none is. partial: all except `refused` are',
    }),
    refused: z
      .array(z.object({ encf_desde: encfSchema, encf_hasta: encfSchema }))
      .min(1)
      .max(MAX_CANCELLATION_RANGES)
      .optional()
      .meta({ description: 'The numbers that are not annulled; required with partial, not allowed otherwise' }),
    /** The reason in the person's words; it is stored. */
    note: freeTextSchema.trim().min(1).max(1_000),
  })
  .refine(({ outcome, refused }) => (outcome === 'partial') === (refused !== undefined), {
    path: ['refused'],
    message: 'is required with partial, and belongs to it alone',
  });

/** The numbers of each range that are left for automatic numbers, in the order of the request. */
const numbersLeftSchema = z.object({
  ranges: z.array(
    z.object({
      next: encfSchema
        .nullable()
        .meta({ description: 'The next automatic number; null if none is left or the range is expired' }),
      remaining: z
        .number()
        .int()
        .nonnegative()
        .meta({ description: 'Numbers that are not used, cancelled or reserved' }),
    }),
  ),
});

/** Operations of emission for operators. */
export const RESOLUTION_OPERATIONS = {
  numbersLeft: {
    path: '/internal/numbers/left',
    callers: ['gateway'],
    request: z.object({ issuer_rnc: rncSchema, ranges: z.array(numberRangeSchema) }),
    answer: numbersLeftSchema,
  },
  listAlarmed: {
    path: '/internal/emissions/alarmed',
    callers: ['gateway'],
    request: alarmedFilterSchema,
    answer: alarmedPageSchema,
  },
  /** 404 `not_found` if nothing was issued under the number, 409 `conflict` if nothing is to be resolved by hand. */
  resolveDocument: {
    path: '/internal/emissions/resolve',
    callers: ['gateway'],
    request: resolutionSchema.and(actedSchema),
    answer: resolvedDocumentSchema,
  },
  listDoubtful: {
    path: '/internal/cancellations/doubtful',
    callers: ['gateway'],
    request: doubtfulFilterSchema,
    answer: doubtfulPageSchema,
  },
  /** 404 `not_found`; 409 `conflict` if it has no alarm, or is being sent. */
  settleCancellation: {
    path: '/internal/cancellations/settle',
    callers: ['gateway'],
    request: settlementSchema.and(actedSchema),
    answer: doubtfulCancellationSchema,
  },
  /** 409 `conflict` while another start for the taxpayer and environment is in work. */
  startRun: {
    path: '/internal/runs/start',
    callers: ['gateway'],
    request: z.object({ ...newRunSchema.shape, account_id: z.string().min(1), issuer_rnc: rncSchema }).and(actedSchema),
    answer: startedRunSchema,
  },
} as const;
export type ResolutionOperations = InternalHandlers<typeof RESOLUTION_OPERATIONS>;
