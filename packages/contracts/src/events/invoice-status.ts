import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, timestampSchema } from '../environment.js';
import { authorityMessageSchema, invoiceStatusSchema } from './invoice.js';

/**
 * `invoice_status.changed`: what the authority answered to the question for the result of a submission, where it differs
 * from what was known. `revision` increases per (environment, trackId); a reader keeps the highest. `sequence_used` is the
 * authority's own flag, which means something for Rechazado alone. `final` says that the authority has decided.
 */
export const invoiceStatusChangedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    account_id: z.string().min(1),
    track_id: z.string().min(1),
    revision: z.number().int().positive(),
    status: invoiceStatusSchema,
    final: z.boolean(),
    code: z.string(),
    messages: z.array(authorityMessageSchema),
    /** True where the authority said more than `messages` holds: up to MAX_VERDICT_MESSAGE_BYTES travel. */
    messages_cut: z.boolean().optional(),
    sequence_used: z.boolean().nullable(),
    date_received: timestampSchema.nullable(),
    asked_at: timestampSchema,
    /** The answer as it came, for the audit trail. */
    answer: z.object({
      http_status: z.number().int(),
      content_type: z.string().nullable(),
      body: z.string(),
    }),
  })
  .meta({
    description:
      "The authority's answer to a query for the result of a submission. A consumer keeps the highest revision of a trackId.",
  });
export type InvoiceStatusChanged = z.infer<typeof invoiceStatusChangedSchema>;
