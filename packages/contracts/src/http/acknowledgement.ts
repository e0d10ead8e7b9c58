import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, timestampSchema } from '../environment.js';
import { signerSchema } from './signer.js';

/**
 * An ARECF that a buyer's receiver returned, as `GET /received-arecf/` shows it. If `valid` is false, `validation_error`
 * has the reason, and the other fields have the readable parts of the document.
 */
export const receivedAcknowledgementSchema = z
  .object({
    id: z.number().int().positive(),
    issuer_rnc: rncSchema,
    buyer_rnc: rncSchema,
    encf: encfSchema,
    env: environmentSchema,
    receipt_status: z
      .union([z.literal(0), z.literal(1)])
      .nullable()
      .meta({ description: 'Estado: 0 received, 1 not received; null if it cannot be read' }),
    rejection_code: z
      .number()
      .int()
      .min(1)
      .max(4)
      .nullable()
      .meta({ description: 'CodigoMotivoNoRecibido, 1 to 4; null if it was received' }),
    rejection_reason: z.string().nullable(),
    acknowledged_at: timestampSchema
      .nullable()
      .meta({ description: 'FechaHoraAcuseRecibo; null if it cannot be read' }),
    received_at: timestampSchema,
    valid: z.boolean().meta({ description: 'Whether the document is a valid acknowledgement of what was sent' }),
    validation_error: z.string().nullable().meta({ description: 'Why it is not valid; null if it is' }),
    xml_storage_path: z.string(),
    xml_checksum: z.string(),
    receiver: z.string().nullable().meta({
      description: 'Host of the receiver that answered the delivery; null in records of earlier versions',
    }),
    signer: signerSchema.nullable().meta({
      description: 'The signer; null if the signature is not valid, and in records of earlier versions',
    }),
  })
  .meta({ description: 'An acknowledgement of receipt that a buyer returned for an issued e-CF.' });
export type ReceivedAcknowledgement = z.infer<typeof receivedAcknowledgementSchema>;
