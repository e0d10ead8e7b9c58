import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, timestampSchema } from '../../environment.js';
import { actedSchema } from '../audit.js';
import { deliveryStatusSchema } from '../invoice.js';
import type { InternalHandlers } from './internal.js';
import { UNDECIDED_APPROVAL_OPERATIONS } from './undecided-approval.js';

/** A delivery for operators. */
export const deliverySchema = z.object({
  id: z.number().int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  buyer_rnc: rncSchema,
  account_id: z.string(),
  delivery_status: deliveryStatusSchema,
  /** Number of sends. */
  tries: z.number().int().nonnegative(),
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
export const deliveryPageSchema = z.object({
  deliveries: z.array(deliverySchema),
  next: z.number().int().nullable().meta({ description: 'The value of `before` for the next page; null at the end' }),
});
export type DeliveryPage = z.infer<typeof deliveryPageSchema>;

/** Names a delivery. */
export const deliveryNameSchema = z.object({ env: environmentSchema, issuer_rnc: rncSchema, encf: encfSchema });

/** Operations of the approvals service for operators. */
export const DELIVERY_OPERATIONS = {
  listDeliveries: {
    path: '/internal/deliveries/list',
    callers: ['gateway'],
    request: deliveryFilterSchema,
    answer: deliveryPageSchema,
  },
  /**
   * Makes a delivery due at once, with a new deadline. 404 `not_found` if there is none, 409 `conflict` if the buyer has the
   * document.
   */
  retryDelivery: {
    path: '/internal/deliveries/retry',
    callers: ['gateway'],
    request: deliveryNameSchema.and(actedSchema),
    answer: deliverySchema,
  },
  ...UNDECIDED_APPROVAL_OPERATIONS,
} as const;
export type DeliveryOperations = InternalHandlers<typeof DELIVERY_OPERATIONS>;
