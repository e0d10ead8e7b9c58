import { z } from 'zod';
import {
  encfSchema,
  environmentSchema,
  freeTextSchema,
  givenTrackIdSchema,
  rncSchema,
  timestampSchema,
} from '../../environment.js';
import { MAX_CANCELLATION_RANGES } from '../cancellation.js';
import type { InternalHandlers } from './internal.js';

/** A document that does not go on by itself. */
export const alarmedDocumentSchema = z.object({
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  account_id: z.string(),
  /** State of the emission life cycle. */
  state: z.string(),
  /** `cannot-ask`, `no-certificate`, `document-lost`, `overdue`. */
  alarm: z.string(),
  committed_at: timestampSchema,
});

/** Which documents with an alarm to list. */
export const alarmedFilterSchema = z.object({
  env: environmentSchema.optional(),
  issuer_rnc: rncSchema.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  /** Where to go on; the answer's `next`. */
  after: z.coerce.number().int().nonnegative().default(0),
});

/** In the order of their submission; `next` is null at the end. */
export const alarmedPageSchema = z.object({
  documents: z.array(alarmedDocumentSchema),
  next: z.number().int().nullable(),
});

/** A person's decision about a document whose outcome nobody can ask for. */
export const resolutionSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    /** `adopt`: the authority has it, under `track_id`. `resend`: it does not; the very same bytes go out again. */
    action: z.enum(['adopt', 'resend']),
    track_id: givenTrackIdSchema.optional(),
  })
  .refine(({ action, track_id }) => (action === 'adopt') === (track_id !== undefined), {
    path: ['track_id'],
    message: 'is required with adopt, and belongs to it alone',
  });

/** What became of it. */
export const resolvedDocumentSchema = z.object({
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  state: z.string(),
  status: z.string(),
  track_id: z.string().nullable(),
});

/** A cancellation that a person has to look at, or settled. */
export const doubtfulCancellationSchema = z.object({
  id: z.number().int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  account_id: z.string(),
  authority_status: z.string(),
  /** `cancellation-open`, `cancellation-unreadable`, `cancellation-overdue`; null once it is settled. */
  alarm: z.string().nullable(),
  total_encf_canceled: z.number().int().positive(),
  /** Its first numbers, as a person reads them. */
  numbers: z.string(),
  /** The authority's last answer, its beginning. */
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

/** What a person found out about a cancellation whose outcome nobody can ask for. */
export const settlementSchema = z
  .object({
    id: z.number().int().positive(),
    /** `accepted`: all numbers are annulled. `rejected`: none is, all are free again. `partial`: all but `refused` are. */
    outcome: z.enum(['accepted', 'rejected', 'partial']),
    refused: z
      .array(z.object({ encf_desde: encfSchema, encf_hasta: encfSchema }))
      .min(1)
      .max(MAX_CANCELLATION_RANGES)
      .optional(),
    /** Why, in the person's words; kept. */
    note: freeTextSchema.trim().min(1).max(1_000),
  })
  .refine(({ outcome, refused }) => (outcome === 'partial') === (refused !== undefined), {
    path: ['refused'],
    message: 'is required with partial, and belongs to it alone',
  });

/** What emission answers to those who operate it. */
export const RESOLUTION_OPERATIONS = {
  listAlarmed: { path: '/internal/emissions/alarmed', request: alarmedFilterSchema, answer: alarmedPageSchema },
  /** 404 `not_found` where nothing was issued under the number, 409 `conflict` where nothing is to be resolved by hand. */
  resolveDocument: { path: '/internal/emissions/resolve', request: resolutionSchema, answer: resolvedDocumentSchema },
  listDoubtful: { path: '/internal/cancellations/doubtful', request: doubtfulFilterSchema, answer: doubtfulPageSchema },
  /** 404 `not_found`; 409 `conflict` where no alarm stands on it, or it is being sent. */
  settleCancellation: {
    path: '/internal/cancellations/settle',
    request: settlementSchema,
    answer: doubtfulCancellationSchema,
  },
} as const;
export type ResolutionOperations = InternalHandlers<typeof RESOLUTION_OPERATIONS>;
