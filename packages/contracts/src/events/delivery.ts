import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema } from '../environment.js';
import { deliveryStatusSchema } from '../http/invoice.js';

/**
 * `delivery.changed`: how far the delivery of an issued e-CF to its buyer has come. `revision` increases per document; a
 * reader keeps the highest.
 */
export const deliveryChangedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    buyer_rnc: rncSchema,
    revision: z.number().int().positive(),
    delivery_status: deliveryStatusSchema,
    /** Nothing goes on by itself any more. */
    final: z.boolean().optional(),
  })
  .meta({
    description:
      'The state of the delivery of an issued e-CF to its buyer. A consumer keeps the highest revision of a document.',
  });
export type DeliveryChanged = z.infer<typeof deliveryChangedSchema>;
