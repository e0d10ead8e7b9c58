import { z } from 'zod';
import { approvalConfirmedSchema, approvalStatusSchema, authorityStatusSchema } from '../events/received-invoice.js';
import { amountSchema, environmentSchema, named, nextCursorSchema, rncSchema, timestampSchema } from '../values.js';
import { faultSchema } from './error-body.js';
import { ARECF_XML, ECF_XML, SEED_XML } from './examples.js';
import { SUMS_BY_TYPE_COLUMNS } from './invoices.js';
import {
  CERTIFICATE_ERRORS,
  header,
  jsonOrCsv,
  PRINT_ERRORS,
  PUBLIC_ROUTE,
  pdf,
  publicOperations,
  xml,
  xmlForm,
} from './operation.js';
import * as P from './parameters.js';
import { signerSchema } from './signer.js';
import { invoiceDocumentSchema } from './submissions.js';

/** A day in a header, `DD-MM-YYYY`. */
const headerDaySchema = z.string().regex(/^\d{2}-\d{2}-\d{4}$/);

/** Another document that came under the number of a received one. */
const conflictSchema = z.object({
  id: z.int().positive(),
  sha256: z.string(),
  date_received: timestampSchema,
  signer: signerSchema,
  authority_status: authorityStatusSchema,
});
export type ReceivedInvoiceConflict = z.infer<typeof conflictSchema>;

/** A received e-CF in the listings. */
export const receivedInvoiceSchema = named('ReceivedInvoice', {
  id: z.int().positive(),
  encf: z.string(),
  ecf_type: z.string(),
  date_received: timestampSchema,
  date_issued: timestampSchema
    .nullable()
    .describe('FechaEmision of the document, as a time at the beginning of the day; null if it cannot be read'),
  total_amount: z
    .number()
    .describe(
      'MontoTotal in DOP, as a number: the specification says so for received documents. All other amounts are text with two decimals',
    ),
  provider_rnc: rncSchema,
  provider_name: z.string(),
  buyer_rnc: rncSchema,
  xml_storage_path: z.string(),
  signer: signerSchema,
  authority_status: authorityStatusSchema,
  authority_checked_at: timestampSchema.nullable().describe('When the authority answered last'),
  approval_status: approvalStatusSchema,
  approval_confirmed: approvalConfirmedSchema,
  approval_datetime: timestampSchema.nullable(),
  approval_days_left: z
    .int()
    .nullable()
    .optional()
    .describe(
      'Days left for an answer where APPROVAL_DEADLINE_DAYS is set: 0 on the last one, negative afterwards, null once answered',
    ),
  warnings: z
    .array(faultSchema)
    .describe(
      'The first twenty things that the rules and the check of the signature found in the document; none of them prevents receipt. `signature.blanks`: other software may refuse the signature',
    ),
  conflicts: z
    .array(conflictSchema)
    .describe(
      'Other documents with this number that were received and are kept, oldest first; of more than a hundred, those of known signers and the first of each certificate',
    ),
  conflicts_unkept: z
    .array(conflictSchema)
    .describe('Other documents with this number that were received and not kept: the latest hundred, the newest first'),
  conflicts_total: z
    .int()
    .describe(
      'Number of other documents with this number that were received; `conflicts` has fewer if some are not kept or not shown',
    ),
});
export type ReceivedInvoice = z.infer<typeof receivedInvoiceSchema>;

/** The columns of received documents in CSV. */
export const RECEIVED_COLUMNS = Object.keys(receivedInvoiceSchema.shape);

const receivedInvoicesListSchema = named(
  'ReceivedInvoicesList',
  {
    count: z.int(),
    total: z.int(),
    provider_rnc: rncSchema,
    buyer_rnc: rncSchema,
    start_date: headerDaySchema,
    end_date: headerDaySchema,
    env: environmentSchema,
    limit: z.int(),
    offset: z.int(),
    next_cursor: nextCursorSchema,
    invoices: z.array(receivedInvoiceSchema),
  },
  { description: 'A page: `count` of `total` rows.' },
);
export type ReceivedInvoicesList = z.infer<typeof receivedInvoicesListSchema>;

const allReceivedInvoicesSchema = receivedInvoicesListSchema
  .omit({ provider_rnc: true })
  .meta({ id: 'AllReceivedInvoices', description: 'A page: `count` of `total` rows.' });
export type AllReceivedInvoices = z.infer<typeof allReceivedInvoicesSchema>;

const receivedInvoicesCountSchema = named('ReceivedInvoicesCount', {
  total_invoices: z.int(),
  total_amount: z.string(),
  buyer_rnc: rncSchema,
  start_date: headerDaySchema,
  end_date: headerDaySchema,
  env: environmentSchema,
});
export type ReceivedInvoicesCount = z.infer<typeof receivedInvoicesCountSchema>;

const sums = { count: z.int(), total_amount: amountSchema };

const sumsWithItbis = { ...sums, total_itbis: amountSchema };

const receivedInvoiceAggregateSchema = receivedInvoicesCountSchema
  .extend({
    counted: z.int().describe('Documents that the sums contain: every one of the period'),
    total_amount: amountSchema,
    total_itbis: amountSchema,
    by_month: z.array(z.object({ month: z.string().regex(/^\d{4}-\d{2}$/), ...sumsWithItbis })),
    by_type: z.array(z.object({ ecf_type: z.string(), ...sumsWithItbis })),
    by_status: z.array(z.object({ status: approvalStatusSchema.describe('The approval_status'), ...sums })),
    top_providers: z
      .array(z.object({ provider_rnc: rncSchema, provider_name: z.string(), ...sums }))
      .describe('Sums of the largest providers, largest first'),
  })
  .meta({ id: 'ReceivedInvoiceAggregate' });
export type ReceivedInvoiceAggregate = z.infer<typeof receivedInvoiceAggregateSchema>;

/** Response of `POST /fe/autenticacion/api/validacioncertificado` as JSON: the authority's own names. Times are UTC. */
const providerTokenSchema = named('ProviderToken', {
  token: z.string().describe('The token, for the header authorization'),
  expira: z.string().describe('When it expires, UTC'),
  expedido: z.string().describe('When it was issued, UTC'),
});

export const RECEPTION = publicOperations('Routes for other taxpayers', 'reception', {
  receiveInvoice: {
    route: 'POST /fe/recepcion/api/ecf',
    summary: 'Receives an e-CF of a provider and returns its signed acknowledgement (ARECF)',
    description: `${PUBLIC_ROUTE} Receipt (Estado 0) and refusal (Estado 1 with CodigoMotivo 1 to 4) are both 200.`,
    headers: { authorization: P.authorization },
    body: xmlForm('The signed e-CF.', ECF_XML),
    response: xml('The signed ARECF.', ARECF_XML),
    responseHeaders: {
      'x-rejection-reason': header('For Estado 1: the reason in words.', 'The signature is not valid.').optional(),
    },
    errors: [
      'taxpayer_not_found',
      'invalid_provider_token',
      'unsupported_media_type',
      'daily_bytes_used',
      'document_damaged',
      ...CERTIFICATE_ERRORS,
    ],
  },
  seed: {
    route: 'GET /fe/autenticacion/api/semilla',
    summary: 'Returns a seed to sign',
    description: PUBLIC_ROUTE,
    response: xml('The seed.', SEED_XML),
  },
  validateSeed: {
    route: 'POST /fe/autenticacion/api/validacioncertificado',
    summary: 'Exchanges a signed seed for a Bearer token of the public routes',
    description: `${PUBLIC_ROUTE} The header Accept selects JSON or XML.`,
    body: xmlForm('The seed with its signature.', SEED_XML),
    response: {
      'application/json': providerTokenSchema,
      ...xml(
        'The token.',
        '<?xml version="1.0" encoding="utf-8"?><RespuestaAutenticacion>...</RespuestaAutenticacion>',
      ),
    },
    responseHeaders: { vary: header('Accept', 'Accept') },
    errors: ['invalid_seed', 'unsupported_media_type'],
  },
});

const PERIOD = { 'start-date': P.startDate, 'end-date': P.endDate, 'buyer-rnc': P.buyerHeader };
const PAGES =
  '`cursor` leads from page to page, without a limit to their number. `created_at` of `sort` is date_received. `total` counts all that match; on a page after a cursor it is as of the first page.';
const LISTING = {
  period: P.period,
  authority_status: P.authorityStatusQuery,
  status: P.approvalStatusQuery,
  provider_rnc: P.providerQuery,
  ecf_type: P.ecfType,
  min_amount: P.minAmount,
  max_amount: P.maxAmount,
  updated_since: P.updatedSince,
  sort: P.sort,
  cursor: P.cursor,
  limit: P.limit,
  offset: P.offset,
  bom: P.bom,
};

export const RECEIVED_INVOICES = publicOperations('Received invoices', 'reception', {
  listReceived: {
    route: 'GET /fe/recepcion/api/invoices',
    scopes: ['receive'],
    summary: 'Lists the e-CF of a provider that a buyer received in a period',
    description: PAGES,
    query: LISTING,
    headers: { 'provider-rnc': rncSchema.describe('RNC of the provider who issued the invoices.'), ...PERIOD },
    response: jsonOrCsv(receivedInvoicesListSchema, RECEIVED_COLUMNS),
    errors: ['invalid_parameters', 'not_found', 'taxpayer_not_found'],
  },
  listAllReceived: {
    route: 'GET /fe/recepcion/api/invoices/all',
    scopes: ['receive'],
    summary: 'Lists every e-CF that a buyer received in a period',
    description: PAGES,
    query: LISTING,
    headers: PERIOD,
    response: jsonOrCsv(allReceivedInvoicesSchema, RECEIVED_COLUMNS),
    errors: ['invalid_parameters', 'not_found', 'taxpayer_not_found'],
  },
  countReceived: {
    route: 'GET /fe/recepcion/api/invoices/count',
    scopes: ['receive'],
    summary: 'Returns the number and amount of the e-CF that a buyer received in a period',
    description: 'Credit notes count with a negative sign in the amount.',
    query: { period: P.period, authority_status: P.authorityStatusQuery },
    headers: PERIOD,
    response: receivedInvoicesCountSchema,
    errors: ['not_found', 'taxpayer_not_found'],
  },
  aggregateReceived: {
    route: 'GET /fe/recepcion/api/invoices/aggregate',
    scopes: ['receive'],
    summary: 'Returns sums of received e-CF by month, type, status and provider',
    description:
      'Every document counts with the amount it states, credit notes with a negative sign. Months follow `period`; `status` is the approval_status.',
    query: {
      period: P.period,
      authority_status: P.authorityStatusQuery,
      top_providers_limit: z.int().min(1).max(50).default(10).describe('Maximum number of providers in top_providers.'),
      bom: P.bom,
    },
    headers: PERIOD,
    response: jsonOrCsv(receivedInvoiceAggregateSchema, SUMS_BY_TYPE_COLUMNS),
    errors: ['not_found', 'taxpayer_not_found'],
  },
  findReceived: {
    route: 'GET /fe/recepcion/api/invoices/{encf}',
    scopes: ['receive'],
    summary: 'Returns one received invoice',
    description: '`conflicts` lists other received documents with the same number.',
    params: { encf: P.encf },
    headers: { 'buyer-rnc': P.buyerHeader, 'provider-rnc': P.optionalProviderHeader },
    response: receivedInvoiceSchema,
    hasEtag: true,
    errors: ['ambiguous_encf', 'not_found', 'taxpayer_not_found'],
  },
  receivedDocument: {
    route: 'GET /fe/recepcion/api/invoices/{encf}/document',
    scopes: ['receive'],
    summary: 'Returns a received e-CF in JSON, in the shape that is submitted',
    description: 'Without signature, with its FechaHoraFirma.',
    params: { encf: P.encf },
    headers: { 'buyer-rnc': P.buyerHeader, 'provider-rnc': P.optionalProviderHeader },
    response: invoiceDocumentSchema,
    hasEtag: true,
    errors: ['ambiguous_encf', 'not_found', 'taxpayer_not_found', 'document_damaged', 'document_too_costly'],
  },
  receivedPdf: {
    route: 'GET /fe/recepcion/api/invoices/{encf}/pdf',
    scopes: ['receive'],
    summary: 'Returns the printed form of a received e-CF',
    description:
      'PDF/A-3 with the XML as the provider signed it attached; the same document gives the same bytes. A document that the authority rejected has none.',
    params: { encf: P.encf },
    query: { format: P.printFormat, lang: P.printLanguage },
    headers: { 'buyer-rnc': P.buyerHeader, 'provider-rnc': P.optionalProviderHeader },
    response: pdf('The printed form (representación impresa).'),
    hasEtag: true,
    errors: ['ambiguous_encf', ...PRINT_ERRORS],
  },
  acknowledgementXml: {
    route: 'GET /arecf/{encf}',
    scopes: ['receive'],
    summary: 'Returns the acknowledgement (ARECF) that a provider got',
    description: 'It is the answer that the provider got when it delivered the e-CF.',
    params: { encf: P.encf },
    query: { issuer_rnc: P.issuerQuery },
    headers: { 'buyer-rnc': P.optionalBuyerHeader },
    response: xml('The bytes as they were signed.', ARECF_XML),
    hasEtag: true,
    errors: ['invalid_issuer_rnc', 'ambiguous_encf', 'not_found', 'taxpayer_not_found', 'document_damaged'],
  },
});
