import { z } from 'zod';
import { deliveryStatusSchema } from '../api/invoices.js';
import { encfSchema, environmentSchema, rncSchema, runSchema } from '../values.js';

/** `delivery.changed` */
export const deliveryChangedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    run: runSchema.optional(),
    buyer_rnc: rncSchema,
    revision: z.int().positive(),
    delivery_status: deliveryStatusSchema,
    final: z.boolean().optional().describe('True if the delivery has ended; only an operator can repeat it'),
  })
  .describe('The state of the delivery of an issued e-CF to its buyer. Revisions count per document.');
export type DeliveryChanged = z.infer<typeof deliveryChangedSchema>;
