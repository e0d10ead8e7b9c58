import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, runSchema } from '../environment.js';
import { deliveryStatusSchema } from '../http/invoice.js';

/**
 * `delivery.changed`: the state of the delivery of an issued e-CF to its buyer. `revision` increases per document; a consumer
 * keeps the highest.
 */
export const deliveryChangedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    run: runSchema.optional().meta({ description: 'The certification run of the issuer; absent means 1' }),
    buyer_rnc: rncSchema,
    revision: z.number().int().positive(),
    delivery_status: deliveryStatusSchema,
    /** The delivery has ended; only an operator can repeat it. */
    final: z.boolean().optional(),
  })
  .meta({
    description:
      'The state of the delivery of an issued e-CF to its buyer. A consumer keeps the highest revision of a document.',
  });
export type DeliveryChanged = z.infer<typeof deliveryChangedSchema>;
