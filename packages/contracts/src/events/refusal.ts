import { z } from 'zod';
import { ecfTypeSchema, environmentSchema, rncSchema, timestampSchema } from '../values.js';

/**
 * `received.refused`: a document for one of our taxpayers was answered with Estado 1. A number that is refused again for the
 * same reason is not published again. With codes 1 and 2 nothing proves who sent it. `issuer_rnc` is the provider.
 */
export const receivedRefusedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: z.string().min(1),
    buyer_rnc: rncSchema,
    account_id: z.string().min(1),
    ecf_type: ecfTypeSchema.nullable(),
    date_received: timestampSchema,
    /** CodigoMotivoNoRecibido: 1 structure, 2 signature, 3 duplicate. */
    rejection_code: z.int().min(1).max(3),
    rejection_reason: z.string(),
    xml_checksum: z.string(),
    arecf_storage_path: z.string(),
    arecf_checksum: z.string(),
  })
  .describe(
    'A document that a provider sent was refused. It is published once for each number and reason; it is not proven who sent a document with code 1 or 2.',
  );
export type ReceivedRefused = z.infer<typeof receivedRefusedSchema>;
