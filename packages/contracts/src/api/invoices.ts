import { z } from 'zod';
import { authorityMessageSchema, invoiceAttemptSchema, invoiceStatusSchema } from '../events/invoice.js';
import { approvalConfirmedSchema, approvalStatusSchema } from '../events/received-invoice.js';
import {
  amountSchema,
  dateSchema,
  ecfTypeSchema,
  encfSchema,
  environmentSchema,
  named,
  nextCursorSchema,
  referenceSchema,
  rncSchema,
  runSchema,
  timestampSchema,
  trackIdSchema,
} from '../values.js';
import { ECF_XML } from './examples.js';
import { READ_SUBMITTED } from './key-rights.js';
import {
  AUTHORITY_ERRORS,
  CERTIFICATE_ERRORS,
  header,
  jsonOrCsv,
  optional,
  PRINT_ERRORS,
  pdf,
  publicOperations,
  xml,
} from './operation.js';
import * as P from './parameters.js';
import { issuedDocumentSchema } from './submissions.js';

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

/** Part of a buyer's name, as a criterion. */
export const buyerNameSchema = z
  .string()
  .min(1)
  .max(150)
  .refine((text) => !text.includes('\0'));
/** A code of the authority's messages, as a criterion. */
export const MESSAGE_CODE = /^[\w.-]{1,20}$/;
/** The number of a fiscal receipt, electronic or on paper, as a criterion. */
export const RECEIPT_NUMBER = /^[A-Z]\d{10,18}$/;

/** An issued document, one per (environment, issuer, eNCF). Null if a field does not apply. */
export const invoiceSchema = named('Invoice', {
  id: z.int().positive(),
  encf: encfSchema,
  ecf_type: ecfTypeSchema,
  env: environmentSchema,
  run: runSchema.describe('The certification run of the issuer in the environment; 1 in eCF'),
  superseded: z
    .boolean()
    .optional()
    .describe('True if a later certification run has begun. Absent in events, which have `run` only'),
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
  reference: referenceSchema.nullable().describe("The caller's own reference"),
  submitted_by: z.string().nullable().describe('Id of the API key that submitted it; null if it is not known'),
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

const count = z.int().nonnegative();

export const invoiceListSchema = periodSchema
  .extend({
    count,
    total: count,
    limit: z.int(),
    offset: z.int(),
    next_cursor: nextCursorSchema,
    invoices: z.array(invoiceSchema),
  })
  .meta({ id: 'InvoiceList', description: 'A page: `count` of `total` rows.' });

export const invoiceCountSchema = periodSchema.extend({ total_invoices: count }).meta({ id: 'InvoiceCount' });

const sums = { count, total_amount: amountSchema, total_itbis: amountSchema };

/** Response of `GET /invoices/aggregate/`. Amounts include accepted documents only; credit notes are negative. */
export const invoiceAggregateSchema = periodSchema
  .extend({
    total_invoices: count.describe('Every document of the period; `by_status` adds up to it'),
    counted: count.describe('Accepted and conditional documents, which all sums except those of `by_status` contain'),
    total_amount: amountSchema,
    total_itbis: amountSchema,
    by_month: z.array(z.object({ month: z.string().regex(/^\d{4}-\d{2}$/), ...sums })),
    by_type: z.array(z.object({ ecf_type: ecfTypeSchema, ...sums })),
    by_status: z.array(z.object({ status: invoiceStatusSchema, count, total_amount: amountSchema })),
    top_clients: z
      .array(
        z.object({
          buyer_rnc: z.string().nullable(),
          buyer_name: z.string().nullable(),
          count,
          total_amount: amountSchema,
        }),
      )
      .describe('Sums of the largest buyers, largest first'),
    by_day: z
      .array(z.object({ day: dateSchema.describe('The day, DD-MM-YYYY'), status: invoiceStatusSchema, count }))
      .describe('Documents of each day and status; a day without documents is absent'),
    by_hour: z
      .array(z.object({ hour: z.int().min(0).max(23).describe('The hour, 0 to 23'), count }))
      .nullable()
      .describe('Documents by the Dominican hour of their creation; null unless the period is one day'),
    by_code: z
      .array(
        z.object({
          code: z.string().describe('The codigo'),
          count,
          message: z.string().describe('The text of one message'),
        }),
      )
      .describe(
        'Rejected documents by codigo of their messages, most first, with the text of one of them; at most 50 codes',
      ),
  })
  .meta({ id: 'InvoiceAggregate' });

/** Response of `GET /trackids/{encf}`: every submission of the number, oldest first. */
export const trackIdListSchema = named('TrackIdList', {
  encf: encfSchema,
  issuer_rnc: rncSchema,
  env: environmentSchema,
  count,
  track_ids: z.array(invoiceAttemptSchema),
});

const invoiceStatusResponseSchema = named('InvoiceStatusResponse', {
  track_id: z.string(),
  encf: encfSchema,
  status: invoiceStatusSchema,
  code: z.string().describe("The authority's code of the state: 1, 2, 3, 4, or 0 for No encontrado"),
  rnc: rncSchema,
  date_received: timestampSchema.describe(
    'When the authority received the document; until it says so, when the document was submitted',
  ),
  messages: z.array(authorityMessageSchema),
});

export const consumptionInvoiceStatusSchema = named('ConsumptionInvoiceStatus', {
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

/** An unchanged answer of the authority about an attempt. */
export const rawAnswerSchema = z.object({
  operation: z.string().describe('The operation of the authority, for example submitDocument'),
  at: timestampSchema.describe('When it answered'),
  outcome: z
    .string()
    .describe('How the gateway classified it: verdict, unauthorized, `unknown:<cause>`, `refused:<code>`'),
  http_status: z.int().nullable().describe('Its HTTP status; null without an answer'),
  content_type: z.string().nullable().describe('Its content type; null without one'),
  body: z.string().nullable().describe('Its body, unchanged; null without one'),
});
export type RawAnswerBody = z.infer<typeof rawAnswerSchema>;

/** Response of `GET /trackids/{encf}/raw`: each submission with all answers of the authority about it. */
const rawTrackIdListSchema = trackIdListSchema
  .extend({
    track_ids: z.array(
      invoiceAttemptSchema.extend({
        raw: z.array(rawAnswerSchema).describe("The authority's answers about this submission, oldest first"),
      }),
    ),
  })
  .meta({ id: 'RawTrackIdList' });

export const INVOICE_STATUS = publicOperations('Invoices', 'status-poller', {
  invoiceStatus: {
    route: 'GET /invoice-status/{track_id}',
    scopes: READ_SUBMITTED,
    summary: 'Returns the status of a submission by its trackId',
    description: 'If the authority cannot be reached, the response has the last known status.',
    params: {
      track_id: trackIdSchema.describe('The trackId in the response to the submission.'),
    },
    response: invoiceStatusResponseSchema,
    hasEtag: true,
    errors: ['login_refused', 'not_found'],
  },
});

const PERIOD = { 'rnc-issuing': P.issuerHeader, 'start-date': P.startDate, 'end-date': P.endDate };
const LAG = {
  'x-read-model-lag-ms': header(
    'Milliseconds that the latest change of an issued document took to arrive in the read models; a list, count or sum may be that far behind.',
    '40',
  ).regex(/^\d+$/),
};

export const INVOICES = publicOperations('Invoices', 'query', {
  listInvoices: {
    route: 'GET /invoices',
    scopes: READ_SUBMITTED,
    summary: 'Lists the invoices of an issuer in a period',
    description:
      '`cursor` leads from page to page, without a limit to their number. `total` counts all that match; filters other than `status`, `ecf_type` and `superseded` make it the total as of the first page.',
    query: {
      period: P.period,
      status: optional(invoiceStatusSchema, 'Only invoices of this status.', 'Aceptado'),
      superseded: optional(
        z.enum(['true', 'false']),
        'True: documents of earlier certification runs too, with `superseded: true`.',
        'true',
      ),
      buyer_rnc: rncSchema.optional().describe('Only this buyer.'),
      buyer_name: optional(
        buyerNameSchema,
        'Only buyers whose name contains this text, whatever the case and the accents of the letters.',
        'ferreteria',
      ),
      delivery_status: optional(
        z.string(),
        `Only these states of the delivery, separated by commas: ${deliveryStatusSchema.options.join(', ')}.`,
        'failed,refused',
      ),
      message_code: optional(
        z.string().regex(MESSAGE_CODE),
        'Only rejected documents with this codigo in their messages.',
        '1209',
      ),
      modified_encf: optional(
        z.string().regex(RECEIPT_NUMBER),
        'Only notes that modify the document of this number.',
        'E310000000101',
      ),
      reference: referenceSchema.optional().describe('Only this own reference.'),
      ecf_type: P.ecfType,
      min_amount: P.minAmount,
      max_amount: P.maxAmount,
      updated_since: P.updatedSince,
      sort: P.sort,
      cursor: P.cursor,
      limit: P.limit,
      offset: P.offset,
      bom: P.bom,
    },
    headers: PERIOD,
    response: jsonOrCsv(invoiceListSchema, INVOICE_COLUMNS),
    responseHeaders: LAG,
    errors: ['taxpayer_not_found'],
  },
  countInvoices: {
    route: 'GET /invoices/count',
    scopes: READ_SUBMITTED,
    summary: 'Counts the invoices of an issuer in a period',
    description: 'Every document counts, whatever its status.',
    query: { period: P.period },
    headers: PERIOD,
    response: invoiceCountSchema,
    responseHeaders: LAG,
    errors: ['taxpayer_not_found'],
  },
  aggregateInvoices: {
    route: 'GET /invoices/aggregate',
    scopes: READ_SUBMITTED,
    summary: 'Returns sums by month, type, status and buyer, and counts by day, hour and rejection',
    description:
      'total_invoices counts every document of the period, and by_status adds up to it. All other sums contain accepted and conditional documents only, whose number is `counted`; `by_day` and `by_hour` count every document. Credit notes count with a negative sign. Months follow `period`.',
    query: {
      period: P.period,
      top_clients_limit: z.int().min(1).max(50).default(10).describe('Maximum number of buyers in top_clients.'),
      bom: P.bom,
    },
    headers: PERIOD,
    response: jsonOrCsv(invoiceAggregateSchema, SUMS_BY_TYPE_COLUMNS),
    responseHeaders: LAG,
    errors: ['taxpayer_not_found'],
  },
  findInvoice: {
    route: 'GET /invoices/{encf}',
    scopes: READ_SUBMITTED,
    summary: 'Returns one invoice',
    description:
      'The document is found immediately after its submission. Its status changes until the authority has decided.',
    params: { encf: P.encf },
    query: { run: P.run },
    headers: { 'rnc-issuing': P.issuerHeader },
    response: invoiceSchema,
    responseHeaders: LAG,
    hasEtag: true,
    errors: ['not_found', 'taxpayer_not_found'],
  },
  invoiceDocument: {
    route: 'GET /invoices/{encf}/document',
    scopes: READ_SUBMITTED,
    summary: 'Returns an issued e-CF in JSON, in the shape that is submitted',
    description:
      'Without signature. An e-CF always has its FechaHoraFirma; sent again as it is, it gets its stored response. For a consumer invoice that was submitted as a signed summary, it is the summary, under the root RFCE.',
    params: { encf: P.encf },
    query: { run: P.run },
    headers: { 'rnc-issuing': P.issuerHeader },
    response: issuedDocumentSchema,
    responseHeaders: LAG,
    hasEtag: true,
    errors: ['not_found', 'taxpayer_not_found', 'document_damaged', 'document_too_costly'],
  },
  invoicePdf: {
    route: 'GET /invoices/{encf}/pdf',
    scopes: READ_SUBMITTED,
    summary: 'Returns the printed form of an issued e-CF',
    description:
      'PDF/A-3 with the signed XML attached; the same document gives the same bytes. A rejected or withdrawn document has none.',
    params: { encf: P.encf },
    query: { format: P.printFormat, lang: P.printLanguage, run: P.run },
    headers: { 'rnc-issuing': P.issuerHeader },
    response: pdf('The printed form (representación impresa).'),
    responseHeaders: LAG,
    hasEtag: true,
    errors: PRINT_ERRORS,
  },
  invoiceQrSvg: {
    route: 'GET /invoices/{encf}/qr.svg',
    scopes: READ_SUBMITTED,
    summary: 'Returns the QR code of an issued e-CF as SVG',
    description: 'With its quiet zone. Print it at least 22 mm wide.',
    params: { encf: P.encf },
    query: { run: P.run },
    headers: { 'rnc-issuing': P.issuerHeader },
    response: { 'image/svg+xml': z.string().meta({ description: 'The QR code of `qr_url`.' }) },
    responseHeaders: LAG,
    hasEtag: true,
    errors: ['not_found', 'taxpayer_not_found'],
  },
  invoiceQrPng: {
    route: 'GET /invoices/{encf}/qr.png',
    scopes: READ_SUBMITTED,
    summary: 'Returns the QR code of an issued e-CF as PNG',
    description: 'With its quiet zone, eight pixels per module. Print it at least 22 mm wide.',
    params: { encf: P.encf },
    query: { run: P.run },
    headers: { 'rnc-issuing': P.issuerHeader },
    response: { 'image/png': z.string().meta({ description: 'The QR code of `qr_url`.', format: 'binary' }) },
    responseHeaders: LAG,
    hasEtag: true,
    errors: ['not_found', 'taxpayer_not_found'],
  },
  listTrackIds: {
    route: 'GET /trackids/{encf}',
    scopes: READ_SUBMITTED,
    summary: 'Lists every submission of a number, oldest first',
    description:
      'A number is submitted again after a rejection that leaves it usable, or after an answer that was lost.',
    params: { encf: P.encf },
    query: { run: P.run },
    headers: { 'rnc-issuing': P.issuerHeader },
    response: trackIdListSchema,
    responseHeaders: LAG,
    errors: ['not_found', 'taxpayer_not_found'],
  },
  listRawAnswers: {
    route: 'GET /trackids/{encf}/raw',
    scopes: READ_SUBMITTED,
    summary: "Lists every submission of a number with the authority's unchanged answers",
    description: 'The bytes that the authority answered, for cases in which the gateway and the authority disagree.',
    params: { encf: P.encf },
    query: { run: P.run },
    headers: { 'rnc-issuing': P.issuerHeader },
    response: rawTrackIdListSchema,
    responseHeaders: LAG,
    errors: ['not_found', 'taxpayer_not_found'],
  },
  consumerInvoiceStatus: {
    route: 'GET /query-consumption-invoice',
    scopes: READ_SUBMITTED,
    summary: "Returns the authority's status of a consumer invoice under 250,000.00",
    description:
      'The gateway queries the authority. A consumer invoice that was sent as a summary has no trackId, so this is how its status is read there.',
    query: {
      rnc_issuing: rncSchema.describe('RNC of the issuer.'),
      encf: z
        .string()
        .regex(/^[Ee]32\d{10}$/)
        .meta({ description: 'eNCF of a consumer invoice.', examples: ['E320000000001'] }),
      security_code: z
        .string()
        .regex(/^[\x20-\x7e]{1,64}$/)
        .meta({
          description: 'The six characters printed under the QR code; a blank counts as a plus sign.',
          examples: ['Ab1+cd'],
        }),
      rnc_buyer: rncSchema.optional().describe('RNC of the buyer.'),
    },
    response: consumptionInvoiceStatusSchema,
    errors: [
      'not_found',
      'taxpayer_not_found',
      ...AUTHORITY_ERRORS,
      ...CERTIFICATE_ERRORS,
      'service_not_in_environment',
    ],
  },
  invoiceXml: {
    route: 'GET /{encf}/xml',
    scopes: ['read', 'submit', 'receive'],
    summary: 'Returns the signed XML of an issued or received e-CF',
    description:
      'An issued document is found by its issuer, a received one by its buyer or provider. If several documents hold the number, the 400 response says which parameter to add.',
    params: { encf: P.encf },
    query: {
      issuer_rnc: rncSchema
        .optional()
        .describe(
          'RNC of the issuer. Required if several issuers hold the number, and for received e-CF (the RNC of the provider).',
        ),
      document: optional(
        z.enum(['ecf', 'rfce']),
        'ecf (default) selects the e-CF, rfce the summary of a consumer invoice under 250,000.00.',
        'ecf',
      ),
      sha256: optional(
        z.string().regex(/^[0-9a-fA-F]{64}$/),
        'SHA-256 of one of the documents that competed for the number (`conflicts` of the received invoice).',
        'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9',
      ),
      run: P.run,
    },
    headers: { 'buyer-rnc': P.optionalBuyerHeader },
    response: xml('The bytes as they were signed.', ECF_XML),
    responseHeaders: {
      'content-disposition': header(
        'The file name that the authority requires: RNC and eNCF.',
        'inline; filename="199999991E310000000101.xml"',
      ),
    },
    hasEtag: true,
    errors: ['ambiguous_encf', 'not_found', 'taxpayer_not_found', 'document_damaged'],
  },
});
