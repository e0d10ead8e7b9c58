import { z } from 'zod';
import { encfSchema, environmentSchema, rncSchema, timestampSchema } from '../values.js';
import { authorityMessageSchema, invoiceStatusSchema } from './invoice.js';

/** `invoice_status.changed` */
export const invoiceStatusChangedSchema = z
  .object({
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    account_id: z.string().min(1),
    track_id: z.string().min(1),
    revision: z.int().positive(),
    status: invoiceStatusSchema,
    final: z.boolean().describe('Whether the authority has decided'),
    code: z.string(),
    messages: z.array(authorityMessageSchema),
    messages_cut: z.boolean().optional().describe('True if the authority sent more messages than these'),
    sequence_used: z.boolean().nullable().describe("The authority's own flag; it has a meaning only for Rechazado"),
    date_received: timestampSchema.nullable(),
    asked_at: timestampSchema,
    unanswered: z
      .boolean()
      .optional()
      .describe('True if the authority gave no usable answer: only an entry of the gateway in `messages` is new'),
    answer: z
      .object({ http_status: z.int(), content_type: z.string().nullable(), body: z.string() })
      .describe('The unchanged answer, for the audit trail; empty if `unanswered` is true'),
  })
  .describe(
    "The authority's answer to a query for the result of a submission, if it differs from the answer before. Revisions count per environment and trackId.",
  );
export type InvoiceStatusChanged = z.infer<typeof invoiceStatusChangedSchema>;
