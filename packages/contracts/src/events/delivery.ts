import { z } from 'zod';
import { deliveryStatusSchema } from '../api/invoices.js';
import { encfSchema, environmentSchema, rncSchema, runSchema } from '../values.js';

/**
 * `delivery.changed`: the state of the delivery of an issued e-CF to its buyer. `revision` increases per document; a consumer
 * keeps the highest.
 */
export const deliveryChangedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    run: runSchema.optional().describe('The certification run of the issuer; absent means 1'),
    buyer_rnc: rncSchema,
    revision: z.int().positive(),
    delivery_status: deliveryStatusSchema,
    /** The delivery has ended; only an operator can repeat it. */
    final: z.boolean().optional(),
  })
  .describe(
    'The state of the delivery of an issued e-CF to its buyer. A consumer keeps the highest revision of a document.',
  );
export type DeliveryChanged = z.infer<typeof deliveryChangedSchema>;
