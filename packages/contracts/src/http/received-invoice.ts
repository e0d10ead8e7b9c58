import { z } from 'zod';
import { amountSchema, environmentSchema, rncSchema, timestampSchema } from '../environment.js';
import { approvalConfirmedSchema, approvalStatusSchema, authorityStatusSchema } from '../events/received-invoice.js';
import { nextCursorSchema } from '../listing.js';
import { faultSchema } from './error-body.js';
import { signerSchema } from './signer.js';

/** A day in a header, `DD-MM-YYYY`. */
const headerDaySchema = z.string().regex(/^\d{2}-\d{2}-\d{4}$/);

/** Another document that came under the number of a received one. */
const conflictSchema = z.object({
  id: z.number().int().positive(),
  sha256: z.string(),
  date_received: timestampSchema,
  signer: signerSchema,
  authority_status: authorityStatusSchema,
});
export type ReceivedInvoiceConflict = z.infer<typeof conflictSchema>;

/** A received e-CF in the listings. */
export const receivedInvoiceSchema = z.object({
  id: z.number().int().positive(),
  encf: z.string(),
  ecf_type: z.string(),
  date_received: timestampSchema,
  date_issued: timestampSchema.nullable().meta({
    description: 'FechaEmision of the document, as a time at the begin of the day; null if it cannot be read',
  }),
  total_amount: z.number().meta({
    description:
      'MontoTotal in DOP, as a number: the specification says so for received documents. All other amounts are text with two decimals',
  }),
  provider_rnc: rncSchema,
  provider_name: z.string(),
  buyer_rnc: rncSchema,
  xml_storage_path: z.string(),
  signer: signerSchema,
  authority_status: authorityStatusSchema,
  authority_checked_at: timestampSchema.nullable().meta({ description: 'When the authority answered last' }),
  approval_status: approvalStatusSchema,
  approval_confirmed: approvalConfirmedSchema,
  approval_datetime: timestampSchema.nullable(),
  approval_days_left: z.number().int().nullable().optional().meta({
    description:
      'Days left for an answer where APPROVAL_DEADLINE_DAYS is set: 0 on the last one, negative afterwards, null once answered',
  }),
  warnings: z.array(faultSchema).meta({
    description:
      'The first twenty things that the rules and the check of the signature found in the document; none of them prevents receipt. `signature.blanks`: other software may refuse the signature',
  }),
  conflicts: z.array(conflictSchema).meta({
    description:
      'Other documents with this number that were received and are kept, oldest first; of more than a hundred, those of known signers and the first of each certificate',
  }),
  conflicts_unkept: z.array(conflictSchema).meta({
    description:
      'Other documents with this number that were received and not kept: the latest hundred, the newest first',
  }),
  conflicts_total: z.number().int().meta({
    description:
      'Number of other documents with this number that were received; `conflicts` has fewer if some are not kept or not shown',
  }),
});
export type ReceivedInvoice = z.infer<typeof receivedInvoiceSchema>;

/** The columns of received documents in CSV. */
export const RECEIVED_COLUMNS = Object.keys(receivedInvoiceSchema.shape);

/** Answer of `GET /fe/recepcion/api/invoices`. */
export const receivedInvoicesListSchema = z.object({
  count: z.number().int(),
  total: z.number().int(),
  provider_rnc: rncSchema,
  buyer_rnc: rncSchema,
  start_date: headerDaySchema,
  end_date: headerDaySchema,
  env: environmentSchema,
  limit: z.number().int(),
  offset: z.number().int(),
  next_cursor: nextCursorSchema,
  invoices: z.array(receivedInvoiceSchema),
});
export type ReceivedInvoicesList = z.infer<typeof receivedInvoicesListSchema>;

/** Answer of `GET /fe/recepcion/api/invoices/all`. */
export const allReceivedInvoicesSchema = receivedInvoicesListSchema.omit({ provider_rnc: true });
export type AllReceivedInvoices = z.infer<typeof allReceivedInvoicesSchema>;

/** Answer of `GET /fe/recepcion/api/invoices/count`. */
export const receivedInvoicesCountSchema = z.object({
  total_invoices: z.number().int(),
  total_amount: z.string(),
  buyer_rnc: rncSchema,
  start_date: headerDaySchema,
  end_date: headerDaySchema,
  env: environmentSchema,
});
export type ReceivedInvoicesCount = z.infer<typeof receivedInvoicesCountSchema>;

const sums = { count: z.number().int(), total_amount: amountSchema };
const sumsWithItbis = { ...sums, total_itbis: amountSchema };

/** Answer of `GET /fe/recepcion/api/invoices/aggregate`. */
export const receivedInvoiceAggregateSchema = receivedInvoicesCountSchema.extend({
  counted: z.number().int().meta({ description: 'Documents that the sums contain: every one of the period' }),
  total_amount: amountSchema,
  total_itbis: amountSchema,
  by_month: z.array(z.object({ month: z.string().regex(/^\d{4}-\d{2}$/), ...sumsWithItbis })),
  by_type: z.array(z.object({ ecf_type: z.string(), ...sumsWithItbis })),
  by_status: z.array(z.object({ status: approvalStatusSchema.meta({ description: 'The approval_status' }), ...sums })),
  top_providers: z.array(z.object({ provider_rnc: rncSchema, provider_name: z.string(), ...sums })),
});
export type ReceivedInvoiceAggregate = z.infer<typeof receivedInvoiceAggregateSchema>;

/** Answer of `POST /fe/autenticacion/api/validacioncertificado` as JSON: the authority's own names. Times are UTC. */
export const providerTokenSchema = z.object({
  token: z.string().meta({ description: 'The token, for the header authorization' }),
  expira: z.string().meta({ description: 'When it expires, UTC' }),
  expedido: z.string().meta({ description: 'When it was issued, UTC' }),
});
export type ProviderToken = z.infer<typeof providerTokenSchema>;
