import { z } from 'zod';
import { issuedDocumentSchema } from '../api/document.js';
import { eventListSchema } from '../events/public-event.js';
import { directoryEntrySchema, monitoringStatusSchema } from '../http/authority.js';
import { rawTrackIdListSchema } from '../http/internal/internal.js';
import {
  consumptionInvoiceStatusSchema,
  INVOICE_COLUMNS,
  invoiceAggregateSchema,
  invoiceCountSchema,
  invoiceListSchema,
  invoiceSchema,
  invoiceStatusResponseSchema,
  SUMS_BY_TYPE_COLUMNS,
  trackIdListSchema,
} from '../http/invoice.js';
import type { OperationId } from '../http/operations.js';
import { csv, type HeaderDescription, json, type OperationDescription, xml } from './description.js';
import { ECF_XML, EXAMPLES, signedInvoiceData } from './examples.js';
import { READ_MODEL_LAG } from './headers.js';
import { PARAMETERS as P } from './parameters.js';

const INVOICES = 'Invoices';
const AUTHORITY = 'Authority';
const EVENTS = 'Events';
const FILE_NAME: HeaderDescription = {
  description: 'The file name that the authority requires: RNC and eNCF.',
  required: true,
  schema: { type: 'string' },
  example: 'inline; filename="199999991E310000000101.xml"',
};
const PERIOD = [P.issuerHeader, P.startDate, P.endDate, P.period] as const;
const LAG = { 'x-read-model-lag-ms': READ_MODEL_LAG };
const LISTING = [P.ecfType, P.minAmount, P.maxAmount, P.updatedSince, P.sort, P.cursor] as const;
const QUERIES_AUTHORITY = [
  'login_refused',
  'authority_unreachable',
  'authority_unreadable',
  'certificate_missing',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_unusable',
  'service_not_in_environment',
] as const;

export const QUERY = {
  invoiceStatus: {
    tag: INVOICES,
    summary: 'Returns the status of a submission by its trackId',
    description: 'If the authority cannot be reached, the answer is the last known status.',
    parameters: [P.trackId],
    hasEtag: true,
    answers: {
      200: { description: 'The status.', content: json(invoiceStatusResponseSchema, EXAMPLES.invoiceStatus) },
    },
    errors: ['login_refused', 'not_found'],
  },
  monitoringStatus: {
    tag: AUTHORITY,
    summary: "Returns the state of the authority's services",
    description: 'It is what the status service of the authority publishes; the deployment needs STATUS_KEY for it.',
    answers: {
      200: {
        description: 'The services and maintenance windows.',
        content: json(monitoringStatusSchema, EXAMPLES.monitoring),
      },
    },
    errors: ['status_key_missing', 'authority_unreachable', 'authority_unreadable', 'service_not_in_environment'],
  },
  listEvents: {
    tag: EVENTS,
    summary: 'Returns what happened to the documents of the account, oldest first',
    description:
      'Events of the environment in `env`, kept 90 days. Ids are permanent and become visible in their order. A key that is limited to some taxpayers sees their events only.',
    parameters: [P.eventAfter, P.eventTypes, P.eventLimit, P.eventWait],
    answers: {
      200: {
        description: 'The events, and the place of the next ones.',
        content: json(eventListSchema, EXAMPLES.eventList),
      },
    },
    errors: ['event_expired', 'unknown_event'],
  },
  listInvoices: {
    tag: INVOICES,
    summary: 'Lists the invoices of an issuer in a period',
    description:
      'Pages follow each other by `cursor`, however many there are. `total` counts all that match; with filters by buyer, reference, amount or `updated_since` it is as of the first page.',
    parameters: [
      ...PERIOD,
      P.invoiceStatus,
      P.superseded,
      P.buyerQuery,
      P.referenceQuery,
      ...LISTING,
      P.limit,
      P.offset,
      P.bom,
    ],
    answers: {
      200: {
        description: 'A page: `count` of `total` rows.',
        content: { ...json(invoiceListSchema, EXAMPLES.invoiceList), ...csv(INVOICE_COLUMNS) },
        headers: LAG,
      },
    },
    errors: ['taxpayer_not_found'],
  },
  countInvoices: {
    tag: INVOICES,
    summary: 'Counts the invoices of an issuer in a period',
    description: 'Every document counts, whatever its status.',
    parameters: PERIOD,
    answers: {
      200: { description: 'The number.', content: json(invoiceCountSchema, EXAMPLES.invoiceCount), headers: LAG },
    },
    errors: ['taxpayer_not_found'],
  },
  aggregateInvoices: {
    tag: INVOICES,
    summary: 'Returns sums by month, type, status and buyer',
    description:
      'total_invoices counts every document of the period, and by_status adds up to it. All other sums contain accepted and conditional documents only, whose number is `counted`. Credit notes count with a negative sign. Months follow `period`.',
    parameters: [...PERIOD, P.topClients, P.bom],
    answers: {
      200: {
        description: 'The sums.',
        content: { ...json(invoiceAggregateSchema, EXAMPLES.invoiceAggregate), ...csv(SUMS_BY_TYPE_COLUMNS) },
        headers: LAG,
      },
    },
    errors: ['taxpayer_not_found'],
  },
  findInvoice: {
    tag: INVOICES,
    summary: 'Returns one invoice',
    description:
      'The document is found immediately after its submission. Its status changes until the authority has decided.',
    hasEtag: true,
    parameters: [P.encf, P.issuerHeader, P.run],
    answers: { 200: { description: 'The invoice.', content: json(invoiceSchema, EXAMPLES.invoice), headers: LAG } },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  invoiceDocument: {
    tag: INVOICES,
    summary: 'Returns an issued e-CF in JSON, in the shape that is submitted',
    description:
      'Without signature. An e-CF always has its FechaHoraFirma; sent again as it is, it gets its stored answer. For a consumer invoice that was submitted as a signed summary, it is the summary, under the root RFCE.',
    hasEtag: true,
    parameters: [P.encf, P.issuerHeader, P.run],
    answers: {
      200: { description: 'The document.', content: json(issuedDocumentSchema, signedInvoiceData), headers: LAG },
    },
    errors: ['not_found', 'taxpayer_not_found', 'document_damaged', 'document_too_costly'],
  },
  listTrackIds: {
    tag: INVOICES,
    summary: 'Lists every submission of a number, oldest first',
    description:
      'A number is submitted again after a rejection that leaves it usable, or after an answer that was lost.',
    parameters: [P.encf, P.issuerHeader, P.run],
    answers: {
      200: { description: 'The submissions.', content: json(trackIdListSchema, EXAMPLES.trackIds), headers: LAG },
    },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  listRawAnswers: {
    tag: INVOICES,
    summary: "Lists every submission of a number with the authority's unchanged answers",
    description: 'For the case that the gateway and the authority disagree: the bytes that the authority answered.',
    parameters: [P.encf, P.issuerHeader, P.run],
    answers: {
      200: { description: 'The submissions.', content: json(rawTrackIdListSchema, EXAMPLES.rawTrackIds), headers: LAG },
    },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  consumerInvoiceStatus: {
    tag: INVOICES,
    summary: "Returns the authority's status of a consumer invoice under 250,000.00",
    description:
      'The gateway queries the authority. A consumer invoice that was sent as a summary has no trackId, so this is how its status is read there.',
    parameters: [P.consumerIssuer, P.consumerEncf, P.securityCode, P.consumerBuyer],
    answers: {
      200: { description: 'The status.', content: json(consumptionInvoiceStatusSchema, EXAMPLES.consumption) },
    },
    errors: ['not_found', 'taxpayer_not_found', ...QUERIES_AUTHORITY],
  },
  invoiceXml: {
    tag: INVOICES,
    summary: 'Returns the signed XML of an issued or received e-CF',
    description:
      'An issued document is found by its issuer, a received one by its buyer or provider. If several documents hold the number, the answer 400 says which parameter to add.',
    hasEtag: true,
    parameters: [P.encf, P.optionalIssuerQuery, P.optionalBuyerHeader, P.document, P.sha256, P.run],
    answers: {
      200: {
        description: 'The bytes as they were signed.',
        content: xml(ECF_XML),
        headers: { 'content-disposition': FILE_NAME },
      },
    },
    errors: ['ambiguous_encf', 'not_found', 'taxpayer_not_found', 'document_damaged'],
  },
  listDirectory: {
    tag: AUTHORITY,
    summary: 'Lists every authorised electronic taxpayer with its addresses',
    description: 'The gateway queries the directory of the authority.',
    answers: {
      200: { description: 'The entries.', content: json(z.array(directoryEntrySchema), [EXAMPLES.directoryEntry]) },
    },
    errors: QUERIES_AUTHORITY,
  },
  findInDirectory: {
    tag: AUTHORITY,
    summary: 'Returns one entry of the directory',
    description: 'The addresses are those to which e-CF and approvals are delivered.',
    hasEtag: true,
    parameters: [P.rnc],
    answers: { 200: { description: 'The entry.', content: json(directoryEntrySchema, EXAMPLES.directoryEntry) } },
    errors: ['not_found', ...QUERIES_AUTHORITY],
  },
} as const satisfies Partial<Record<OperationId, OperationDescription>>;
