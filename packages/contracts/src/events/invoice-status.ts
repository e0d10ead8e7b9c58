import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, timestampSchema } from '../values.js';
import { authorityMessageSchema, invoiceStatusSchema } from './invoice.js';

/**
 * `invoice_status.changed`: the authority's answer to a query for the result of a submission, if it differs from the known
 * one. `revision` increases per (environment, trackId); a consumer keeps the highest. `sequence_used` is the authority's own
 * flag; it has a meaning only for Rechazado. `final` says that the authority has decided.
 */
export const invoiceStatusChangedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    account_id: z.string().min(1),
    track_id: z.string().min(1),
    revision: z.int().positive(),
    status: invoiceStatusSchema,
    final: z.boolean(),
    code: z.string(),
    messages: z.array(authorityMessageSchema),
    /** True if the authority sent more messages than these, which take up to MAX_VERDICT_MESSAGE_BYTES. */
    messages_cut: z.boolean().optional(),
    sequence_used: z.boolean().nullable(),
    date_received: timestampSchema.nullable(),
    asked_at: timestampSchema,
    /** No usable answer came: only `messages` may have changed, by an entry of the gateway. `answer` is empty then. */
    unanswered: z.boolean().optional(),
    /** The unchanged answer, for the audit trail. */
    answer: z.object({
      http_status: z.int(),
      content_type: z.string().nullable(),
      body: z.string(),
    }),
  })
  .describe(
    "The authority's answer to a query for the result of a submission. A consumer keeps the highest revision of a trackId.",
  );
export type InvoiceStatusChanged = z.infer<typeof invoiceStatusChangedSchema>;
