import { z } from 'zod';
import { encfSchema, environmentSchema, named, rncSchema, timestampSchema } from '../../values.js';
import { deliveryStatusSchema } from '../invoices.js';
import { type AdminOperation, BODY_ERRORS, operations, optional } from '../operation.js';

/** A delivery for operators. */
export const deliverySchema = named('Delivery', {
  id: z.int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  encf: encfSchema,
  buyer_rnc: rncSchema,
  account_id: z.string(),
  delivery_status: deliveryStatusSchema,
  tries: z.int().nonnegative(),
  last_error: z.string().nullable().describe('Why the last send failed; null if it did not'),
  created_at: timestampSchema,
  due_at: timestampSchema.nullable().describe('When the next send is due; null if the delivery has ended'),
  deadline_at: timestampSchema.describe('When it is given up'),
});
export type DeliveryBody = z.infer<typeof deliverySchema>;

/** The query of `GET /admin/deliveries`. */
export const deliveryFilterSchema = z.object({
  env: environmentSchema.optional().describe('Only this environment.'),
  status: optional(deliveryStatusSchema, 'Only this status.', 'failed'),
  issuer_rnc: rncSchema.optional().describe('Only this issuer.'),
  buyer_rnc: rncSchema.optional().describe('Only this buyer.'),
  encf: encfSchema.optional().describe('Only this eNCF.'),
  limit: z.coerce.number().int().min(1).max(1_000).default(100).describe('Maximum number of rows in the response.'),
  before: optional(z.coerce.number().int().positive(), 'Only ids below this one: `next` of a page.', 1_000),
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
    description: 'Shows whether a buyer has a document and, if not, why.',
    query: deliveryFilterSchema.shape,
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
