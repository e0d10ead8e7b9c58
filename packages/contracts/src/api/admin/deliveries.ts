import { z } from 'zod';
import { encfSchema, environmentSchema, named, rncSchema, timestampSchema } from '../../environment.js';
import { deliveryStatusSchema } from '../invoices.js';
import { type AdminOperation, BODY_ERRORS, operations, optional } from '../operation.js';
import * as P from '../parameters.js';

/** A delivery for operators. */
export const deliverySchema = named('Delivery', {
  id: z.int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  buyer_rnc: rncSchema,
  account_id: z.string(),
  delivery_status: deliveryStatusSchema,
  /** Number of sends. */
  tries: z.int().nonnegative(),
  last_error: z.string().nullable(),
  created_at: timestampSchema,
  /** The next due time; null if nothing is left to do. */
  due_at: timestampSchema.nullable(),
  deadline_at: timestampSchema,
});
export type DeliveryBody = z.infer<typeof deliverySchema>;

/** The filter of the list. */
export const deliveryFilterSchema = z.object({
  env: environmentSchema.optional(),
  status: deliveryStatusSchema.optional(),
  issuer_rnc: rncSchema.optional(),
  buyer_rnc: rncSchema.optional(),
  encf: encfSchema.optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  /** Only ids below this one: `next` of the answer. */
  before: z.coerce.number().int().positive().optional(),
});
export type DeliveryFilter = z.infer<typeof deliveryFilterSchema>;

/** Newest first; `next` is null at the end. */
export const deliveryPageSchema = named('DeliveryPage', {
  deliveries: z.array(deliverySchema),
  next: z.int().nullable().describe('The value of `before` for the next page; null at the end'),
});

/** Names a delivery. */
export const deliveryNameSchema = named('DeliveryName', {
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
});

export const DELIVERIES = operations<AdminOperation>('Deliveries', {
  listDeliveries: {
    route: 'GET /admin/deliveries',
    role: 'viewer',
    summary: 'Lists deliveries of issued e-CF to their buyers, newest first',
    description: 'For the question whether, and why not, a buyer has a document.',
    query: {
      env: P.deliveryEnv,
      status: optional(deliveryStatusSchema, 'Only this status.', 'failed'),
      issuer_rnc: P.deliveryIssuer,
      buyer_rnc: rncSchema.optional().describe('Only this buyer.'),
      encf: encfSchema.optional().describe('Only this eNCF.'),
      limit: P.deliveryLimit,
      before: optional(z.int().positive(), 'Only ids below this one: `next` of a page.', 1_000),
    },
    response: deliveryPageSchema,
    errors: ['validation_error'],
  },
  retryDelivery: {
    route: 'POST /admin/deliveries/retry',
    role: 'operator',
    summary: 'Repeats a delivery immediately, with a new deadline',
    description: 'The same bytes are sent. A buyer that already acknowledged the document does not get it again (409).',
    body: deliveryNameSchema,
    response: deliverySchema,
    errors: [...BODY_ERRORS, 'not_found', 'conflict'],
  },
});
