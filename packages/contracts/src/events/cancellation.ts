import { z } from 'zod';
import { cancellationStatusSchema } from '../api/cancellations.js';
import { ecfTypeSchema, environmentSchema, rncSchema, runSchema, timestampSchema } from '../values.js';

/** Most ranges in an event; a consumer that needs the others queries the cancellation by its id. */
export const MAX_EVENT_RANGES = 1_000;

/** `cancellation.changed` */
export const cancellationChangedSchema = z
  .object({
    id: z.int().positive(),
    env: environmentSchema,
    issuer_rnc: rncSchema,
    run: runSchema.optional(),
    account_id: z.string().min(1),
    revision: z.int().positive(),
    authority_status: cancellationStatusSchema.nullable().describe('Null: signed, not to be sent'),
    total_encf_canceled: z.int().positive(),
    total_encf_blocked: z.int().nonnegative(),
    blocked: z
      .array(z.object({ ecf_type: ecfTypeSchema, from: z.int().positive(), to: z.int().positive() }))
      .max(MAX_EVENT_RANGES)
      .describe(
        'The blocked numbers, merged and in order: all numbers until the authority answers, then without the refused ones. Sequences are the ten digits after the type',
      ),
    blocked_complete: z.boolean().describe(`False if there are more than ${MAX_EVENT_RANGES}`),
    created_at: timestampSchema,
    sent_at: timestampSchema.nullable(),
    xml_storage_path: z.string(),
    xml_checksum: z.string(),
  })
  .describe('The present state of a cancellation of number ranges.');
export type CancellationChanged = z.infer<typeof cancellationChangedSchema>;
