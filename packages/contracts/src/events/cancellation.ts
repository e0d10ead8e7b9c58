import { z } from 'zod';
import { cancellationStatusSchema } from '../api/cancellations.js';
import { ecfTypeSchema, environmentSchema, rncSchema, runSchema, timestampSchema } from '../values.js';

/** Most ranges in an event; a consumer that needs the others queries the cancellation by its id. */
export const MAX_EVENT_RANGES = 1_000;

/**
 * `cancellation.changed`: the present state of a cancellation of number ranges. `revision` increases per cancellation; a
 * consumer keeps the highest. `blocked` are the numbers that it blocks, merged and in order. Before it is sent these are
 * all; after the authority's answer the refused ones are left out. Sequences are the ten digits after the type, as numbers.
 */
export const cancellationChangedSchema = z.object({
  id: z.int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  run: runSchema.optional().describe('The certification run of the issuer; absent means 1'),
  account_id: z.string().min(1),
  revision: z.int().positive(),
  authority_status: cancellationStatusSchema.nullable().describe('Null: signed, not to be sent'),
  total_encf_canceled: z.int().positive(),
  total_encf_blocked: z.int().nonnegative(),
  blocked: z
    .array(
      z.object({
        ecf_type: ecfTypeSchema,
        from: z.int().positive(),
        to: z.int().positive(),
      }),
    )
    .max(MAX_EVENT_RANGES),
  blocked_complete: z.boolean().describe(`False if there are more than ${MAX_EVENT_RANGES}`),
  created_at: timestampSchema,
  sent_at: timestampSchema.nullable(),
  xml_storage_path: z.string(),
  xml_checksum: z.string(),
});
export type CancellationChanged = z.infer<typeof cancellationChangedSchema>;
