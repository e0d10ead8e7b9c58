import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, timestampSchema } from '../environment.js';
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
    track_id: z.string().trim().min(1).max(100).optional(),
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

/** What emission answers to those who operate it. */
export const RESOLUTION_OPERATIONS = {
  listAlarmed: { path: '/internal/emissions/alarmed', request: alarmedFilterSchema, answer: alarmedPageSchema },
  /** 404 `not_found` where nothing was issued under the number, 409 `conflict` where nothing is to be resolved by hand. */
  resolveDocument: { path: '/internal/emissions/resolve', request: resolutionSchema, answer: resolvedDocumentSchema },
} as const;
export type ResolutionOperations = InternalHandlers<typeof RESOLUTION_OPERATIONS>;
