import { z } from 'zod';
import {
  amountSchema,
  dateSchema,
  ecfTypeSchema,
  encfSchema,
  environmentSchema,
  referenceSchema,
  rncSchema,
  runSchema,
  timestampSchema,
} from '../environment.js';
import { authorityMessageSchema, invoiceStatusSchema } from '../events/invoice.js';
import { approvalConfirmedSchema, approvalStatusSchema } from '../events/received-invoice.js';
import { nextCursorSchema } from '../listing.js';

/** State of the delivery of an e-CF to its buyer. */
export const deliveryStatusSchema = z.enum([
  'not_required',
  'no_receiver',
  'pending',
  'delivered',
  'refused',
  'unacknowledged',
  'failed',
]);

/** An issued document, one per (environment, issuer, eNCF). Null if a field does not apply. */
export const invoiceSchema = z.object({
  id: z.number().int().positive(),
  encf: encfSchema,
  ecf_type: ecfTypeSchema,
  env: environmentSchema,
  run: runSchema.meta({ description: 'The certification run of the issuer in the environment; 1 in eCF' }),
  superseded: z
    .boolean()
    .optional()
    .meta({ description: 'A later certification run began. Absent in events, which state the run alone' }),
  issuer_rnc: rncSchema,
  buyer_rnc: z.string().nullable(),
  buyer_name: z.string().nullable(),
  date_issued: dateSchema,
  created_at: timestampSchema,
  signed_at: timestampSchema,
  total_amount: amountSchema,
  total_itbis: amountSchema,
  status: invoiceStatusSchema,
  code: z.string().nullable(),
  messages: z.array(authorityMessageSchema),
  track_id: z.string().nullable(),
  security_code: z.string(),
  qr_url: z.string(),
  route: z.enum(['ecf', 'rfce']),
  sequence_used: z.boolean().nullable(),
  delivery_status: deliveryStatusSchema,
  approval_status: approvalStatusSchema.nullable(),
  approval_confirmed: approvalConfirmedSchema,
  xml_storage_path: z.string(),
  xml_checksum: z.string(),
  modified_encf: z.string().nullable(),
  reference: referenceSchema.nullable().meta({ description: "The caller's own reference" }),
  /** Id of the API key, and the request, of the submission; null for one of an earlier version. */
  submitted_by: z.string().nullable(),
  request_id: z.string().nullable(),
});

/** The columns of issued documents in CSV. */
export const INVOICE_COLUMNS = Object.keys(invoiceSchema.shape);

/** The columns of sums by type in CSV, of issued and of received documents. */
export const SUMS_BY_TYPE_COLUMNS = ['ecf_type', 'count', 'total_amount', 'total_itbis'];

/** A day in a header, `DD-MM-YYYY`. */
const daySchema = z.string().regex(/^\d{2}-\d{2}-\d{4}$/);
const periodSchema = z.object({
  issuer_rnc: rncSchema,
  start_date: daySchema,
  end_date: daySchema,
  env: environmentSchema,
});
const count = z.number().int().nonnegative();

/** Answer of `GET /invoices/`: `count` rows of `total`. */
export const invoiceListSchema = periodSchema.extend({
  count,
  total: count,
  limit: z.number().int(),
  offset: z.number().int(),
  next_cursor: nextCursorSchema,
  invoices: z.array(invoiceSchema),
});

/** Answer of `GET /invoices/count/`. */
export const invoiceCountSchema = periodSchema.extend({ total_invoices: count });

const sums = { count, total_amount: amountSchema, total_itbis: amountSchema };

/** Answer of `GET /invoices/aggregate/`. Amounts include accepted documents only; credit notes are negative. */
export const invoiceAggregateSchema = periodSchema.extend({
  total_invoices: count.meta({ description: 'Every document of the period; `by_status` adds up to it' }),
  counted: count.meta({
    description: 'Accepted and conditional documents, which all sums except those of `by_status` contain',
  }),
  total_amount: amountSchema,
  total_itbis: amountSchema,
  by_month: z.array(z.object({ month: z.string().regex(/^\d{4}-\d{2}$/), ...sums })),
  by_type: z.array(z.object({ ecf_type: ecfTypeSchema, ...sums })),
  by_status: z.array(z.object({ status: invoiceStatusSchema, count, total_amount: amountSchema })),
  top_clients: z.array(
    z.object({
      buyer_rnc: z.string().nullable(),
      buyer_name: z.string().nullable(),
      count,
      total_amount: amountSchema,
    }),
  ),
});

/** Answer of `GET /trackids/{encf}`: every submission of the number, oldest first. */
export const trackIdListSchema = z.object({
  encf: encfSchema,
  issuer_rnc: rncSchema,
  env: environmentSchema,
  count,
  track_ids: z.array(
    z.object({
      track_id: z.string().nullable(),
      attempt: z.number().int().positive(),
      submitted_at: timestampSchema.nullable(),
      status: invoiceStatusSchema,
      code: z.string().nullable(),
      messages: z.array(authorityMessageSchema),
      sequence_used: z.boolean().nullable(),
      date_received: timestampSchema
        .nullable()
        .meta({ description: 'When the authority received it; null until it says so' }),
      final: z.boolean(),
    }),
  ),
});

/** Answer of `GET /invoice-status/{track_id}`. */
export const invoiceStatusResponseSchema = z.object({
  track_id: z.string(),
  status: invoiceStatusSchema,
  code: z.string().meta({ description: "The authority's code of the state: 1, 2, 3, 4, or 0 for No encontrado" }),
  rnc: rncSchema,
  date_received: timestampSchema.meta({
    description: 'When the authority received the document; until it says so, when the document was submitted',
  }),
  messages: z.array(authorityMessageSchema),
});

/** Answer of `GET /query-consumption-invoice/`. */
export const consumptionInvoiceStatusSchema = z.object({
  rnc: rncSchema,
  encf: encfSchema,
  status: invoiceStatusSchema,
  code: z.string().nullable(),
  messages: z.array(authorityMessageSchema),
  sequence_used: z.boolean().nullable(),
});

export type Invoice = z.infer<typeof invoiceSchema>;
export type InvoiceList = z.infer<typeof invoiceListSchema>;
export type InvoiceCount = z.infer<typeof invoiceCountSchema>;
export type InvoiceAggregate = z.infer<typeof invoiceAggregateSchema>;
export type TrackIdList = z.infer<typeof trackIdListSchema>;
export type InvoiceStatusResponse = z.infer<typeof invoiceStatusResponseSchema>;
export type ConsumptionInvoiceStatus = z.infer<typeof consumptionInvoiceStatusSchema>;
