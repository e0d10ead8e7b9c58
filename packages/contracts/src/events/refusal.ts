import { z } from 'zod';
import { ecfTypeSchema, environmentSchema, rncSchema, timestampSchema } from '../values.js';

/** `received.refused` */
export const receivedRefusedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema.describe('RNC of the provider'),
    encf: z.string().min(1),
    buyer_rnc: rncSchema,
    account_id: z.string().min(1),
    ecf_type: ecfTypeSchema.nullable(),
    date_received: timestampSchema,
    rejection_code: z.int().min(1).max(3).describe('CodigoMotivoNoRecibido: 1 structure, 2 signature, 3 duplicate'),
    rejection_reason: z.string(),
    xml_checksum: z.string(),
    arecf_storage_path: z.string(),
    arecf_checksum: z.string(),
  })
  .describe(
    'A document that a provider sent to one of our taxpayers was refused with Estado 1. The event is published once for each number and reason; it is not proven who sent a document with code 1 or 2.',
  );
export type ReceivedRefused = z.infer<typeof receivedRefusedSchema>;
