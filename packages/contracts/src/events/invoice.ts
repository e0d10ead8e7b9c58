import { z } from 'zod';
import {
  amountSchema,
  dateSchema,
  ecfTypeSchema,
  encfSchema,
  environmentSchema,
  named,
  referenceSchema,
  rncSchema,
  runSchema,
  timestampSchema,
} from '../values.js';
import { MAX_EVENT_ATTEMPTS, MAX_EVENT_MESSAGE_BYTES } from './event-room.js';

/** A message as the authority words it. */
export const authorityMessageSchema = named('AuthorityMessage', {
  codigo: z.string(),
  valor: z.string().describe("The authority's text"),
});
export type AuthorityMessage = z.infer<typeof authorityMessageSchema>;

/** The status words of the interface. */
export const invoiceStatusSchema = z
  .enum(['Aceptado', 'AceptadoCondicional', 'Rechazado', 'EnProceso', 'No encontrado'])
  .meta({ id: 'InvoiceStatus' });

/** One submission to the authority. */
export const invoiceAttemptSchema = z.object({
  attempt: z.int().positive(),
  track_id: z.string().nullable(),
  submitted_at: timestampSchema.nullable(),
  status: invoiceStatusSchema,
  code: z.string().nullable(),
  messages: z.array(authorityMessageSchema),
  sequence_used: z.boolean().nullable(),
  date_received: timestampSchema.nullable().describe('When the authority received it; null until it says so'),
  final: z.boolean(),
});

/** A submission in an event, within its size. Emission has the omitted parts. */
const eventAttemptSchema = invoiceAttemptSchema.extend({
  messages_cut: z.boolean().optional().describe('True if the authority sent more messages than these'),
  earlier_omitted: z
    .int()
    .positive()
    .optional()
    .describe('On the first of the list: how many older submissions are omitted'),
});
export type InvoiceAttempt = z.infer<typeof eventAttemptSchema>;

/** `invoice.changed` */
export const invoiceChangedSchema = z
  .object({
    id: z.int().positive(),
    env: environmentSchema,
    issuer_rnc: rncSchema,
    encf: encfSchema,
    run: runSchema.optional(),
    account_id: z.string().min(1),
    revision: z.int().positive(),
    ecf_type: ecfTypeSchema,
    route: z.enum(['ecf', 'rfce']),
    state: z.string().describe('The state of the emission, for operators'),
    status: invoiceStatusSchema,
    final: z.boolean(),
    code: z.string().nullable(),
    messages: z.array(authorityMessageSchema).describe("The authority's messages about the latest submission"),
    sequence_used: z.boolean().nullable(),
    track_id: z.string().nullable(),
    issuer_name: z.string(),
    buyer_rnc: z.string().nullable(),
    buyer_name: z.string().nullable(),
    date_issued: dateSchema,
    created_at: timestampSchema,
    signed_at: timestampSchema,
    total_amount: amountSchema,
    total_itbis: amountSchema,
    modified_encf: z.string().nullable(),
    security_code: z.string(),
    qr_url: z.string(),
    xml_storage_path: z.string(),
    xml_checksum: z.string(),
    rfce_storage_path: z.string().nullable(),
    rfce_checksum: z.string().nullable(),
    attempts: z.array(eventAttemptSchema),
    reference: referenceSchema.nullable().optional().describe("The caller's own reference"),
    submitted_by: z.string().nullable().optional().describe('The API key that submitted it'),
    request_id: z.string().nullable().optional().describe('The request that submitted it'),
    contingency: z
      .object({
        since: timestampSchema,
        deadline: timestampSchema.nullable().describe('72 hours after the return of the authority'),
      })
      .nullable()
      .optional()
      .describe('For a document that was signed while the authority was unreachable: since when'),
    is_late: z
      .boolean()
      .optional()
      .describe('Undecided after 72 hours; for a document with `contingency`, after its deadline'),
  })
  .describe(
    `The present state of an issued document, its attempts oldest first. Revisions count per document. An event holds the latest ${MAX_EVENT_ATTEMPTS} submissions and about ${MAX_EVENT_MESSAGE_BYTES / 1_000} kB of messages, the latest first, and marks what it omits. A consumer that needs the rest queries the owner for the document.`,
  );
export type InvoiceChanged = z.infer<typeof invoiceChangedSchema>;
