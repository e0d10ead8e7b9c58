import { z } from 'zod';
import { encfSchema, environmentSchema, freeTextSchema, rncSchema, timestampSchema } from '../../values.js';
import { MAX_CANCELLATION_RANGES } from '../cancellations.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';
import { alarmedFilterSchema } from './documents.js';

/** A cancellation that needs a person, or that a person settled. */
export const doubtfulCancellationSchema = z.object({
  id: z.int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  account_id: z.string(),
  authority_status: z.string().meta({ description: 'The status of the cancellation', examples: ['submitted'] }),
  alarm: z
    .string()
    .nullable()
    .describe('Why a person must look at it: cancellation-open, -unreadable, -overdue; null once it is settled'),
  total_encf_canceled: z.int().positive(),
  numbers: z.string(),
  authority_response: z.string().nullable().describe("The beginning of the authority's last answer; null without one"),
  created_at: timestampSchema,
  settled_at: timestampSchema.nullable(),
  note: z.string().nullable(),
});

/** The query of `GET /admin/cancellations/doubtful`: cancellations with an alarm, or that a person settled. */
export const doubtfulFilterSchema = alarmedFilterSchema.extend({
  settled: z.enum(['true', 'false']).default('false').describe('true lists cancellations that a person settled.'),
  limit: z.coerce.number().int().min(1).max(100).default(100).describe('Maximum number of rows in the response.'),
});

/** In the order of their ids; `next` is null at the end. */
export const doubtfulPageSchema = z.object({
  cancellations: z.array(doubtfulCancellationSchema).describe('The cancellations of this page'),
  next: z.int().nullable(),
});

/** The outcome of a cancellation that a person found out. */
export const settlementSchema = z
  .object({
    id: z.int().positive(),
    outcome: z
      .enum(['accepted', 'rejected', 'partial'])
      .describe('accepted: all numbers are annulled. rejected: none is. partial: all except `refused` are'),
    refused: z
      .array(z.object({ encf_desde: encfSchema, encf_hasta: encfSchema }))
      .min(1)
      .max(MAX_CANCELLATION_RANGES)
      .optional()
      .describe('The numbers that are not annulled; required with partial, not allowed otherwise'),
    note: freeTextSchema.trim().min(1).max(1_000),
  })
  .refine(({ outcome, refused }) => (outcome === 'partial') === (refused !== undefined), {
    path: ['refused'],
    message: 'is required with partial, and belongs to it alone',
  });

export const DOUBTFUL_CANCELLATIONS = operations<AdminOperation>('Cancellations', {
  listDoubtful: {
    route: 'GET /admin/cancellations/doubtful',
    role: 'viewer',
    summary: 'Lists cancellations that need a person, or that a person settled',
    description: 'The gateway cannot find out by itself whether the authority annulled these numbers.',
    query: doubtfulFilterSchema.shape,
    response: doubtfulPageSchema,
    errors: ['validation_error'],
  },
  settleCancellation: {
    route: 'POST /admin/cancellations/settle',
    role: 'operator',
    summary: 'Records the outcome of a cancellation that the gateway cannot query',
    description:
      '`accepted`: all numbers are annulled. `rejected`: no number is annulled, and all are free again. `partial`: all numbers except `refused` are annulled.',
    body: settlementSchema,
    response: doubtfulCancellationSchema,
    errors: [...BODY_ERRORS, 'not_found', 'conflict'],
  },
});
