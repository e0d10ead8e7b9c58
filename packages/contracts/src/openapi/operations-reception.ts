import { invoiceDocumentSchema } from '../api/document.js';
import { SUMS_BY_TYPE_COLUMNS } from '../http/invoice.js';
import type { OperationId } from '../http/operations.js';
import {
  allReceivedInvoicesSchema,
  providerTokenSchema,
  RECEIVED_COLUMNS,
  receivedInvoiceAggregateSchema,
  receivedInvoiceSchema,
  receivedInvoicesCountSchema,
  receivedInvoicesListSchema,
} from '../http/received-invoice.js';
import { type Content, csv, json, type OperationDescription, xml } from './description.js';
import { ARECF_XML, ECF_XML, EXAMPLES, SEED_XML, signedInvoiceData } from './examples.js';
import { PARAMETERS as P } from './parameters.js';

const PUBLIC = 'Routes for other taxpayers';
const RECEIVED = 'Received invoices';
const PERIOD = [P.startDate, P.endDate, P.period, P.buyerHeader] as const;
const LISTING = [
  P.authorityStatusQuery,
  P.approvalStatusQuery,
  P.providerQuery,
  P.ecfType,
  P.minAmount,
  P.maxAmount,
  P.updatedSince,
  P.sort,
  P.cursor,
  P.limit,
  P.offset,
  P.bom,
] as const;
const PAGES =
  'Pages follow each other by `cursor`, however many there are. `created_at` of `sort` is date_received. `total` counts all that match; on a page after a cursor it is as of the first page.';

/** The part `xml` of the forms of the public routes. */
export function xmlPart(example: string, description: string): Content {
  return {
    'multipart/form-data': {
      schema: {
        type: 'object',
        required: ['xml'],
        properties: { xml: { type: 'string', format: 'binary', description } },
      },
      example: { xml: example },
      encoding: { xml: { contentType: 'text/xml, application/xml, application/octet-stream' } },
    },
  };
}

/** Holds for every public route. */
export const PUBLIC_ROUTE =
  'Needs no key and ignores one. The path matches in any case, with or without the accent of `recepción`, and with a prefix `/testecf`, `/certecf` or `/ecf` that names the environment.';

export const RECEPTION = {
  receiveInvoice: {
    tag: PUBLIC,
    summary: 'Receives an e-CF of a provider and answers its signed acknowledgement (ARECF)',
    description: `${PUBLIC_ROUTE} Receipt (Estado 0) and refusal (Estado 1 with CodigoMotivo 1 to 4) are both 200.`,
    parameters: [P.authorization],
    body: { required: true, content: xmlPart(ECF_XML, 'The signed e-CF.') },
    answers: {
      200: {
        description: 'The signed ARECF.',
        content: xml(ARECF_XML),
        headers: {
          'x-rejection-reason': {
            description: 'For Estado 1: the reason in words.',
            required: false,
            schema: { type: 'string' },
            example: 'The signature does not hold.',
          },
        },
      },
    },
    errors: [
      'taxpayer_not_found',
      'invalid_provider_token',
      'unsupported_media_type',
      'daily_bytes_used',
      'certificate_missing',
      'certificate_expired',
      'certificate_not_yet_valid',
      'certificate_unusable',
      'document_damaged',
    ],
  },
  seed: {
    tag: PUBLIC,
    summary: 'Returns a seed to sign',
    description: PUBLIC_ROUTE,
    answers: { 200: { description: 'The seed.', content: xml(SEED_XML) } },
  },
  validateSeed: {
    tag: PUBLIC,
    summary: 'Exchanges a signed seed for a Bearer token of the public routes',
    description: `${PUBLIC_ROUTE} The header Accept selects JSON or XML.`,
    body: { required: true, content: xmlPart(SEED_XML, 'The seed with its signature.') },
    answers: {
      200: {
        description: 'The token.',
        content: {
          ...json(providerTokenSchema, EXAMPLES.providerToken),
          ...xml('<?xml version="1.0" encoding="utf-8"?><RespuestaAutenticacion>...</RespuestaAutenticacion>'),
        },
        headers: {
          vary: { description: 'Accept', required: true, schema: { type: 'string' }, example: 'Accept' },
        },
      },
    },
    errors: ['invalid_seed', 'unsupported_media_type'],
  },
  listReceived: {
    tag: RECEIVED,
    summary: 'Lists the e-CF of a provider that a buyer received in a period',
    description: PAGES,
    parameters: [P.providerHeader, ...PERIOD, ...LISTING],
    answers: {
      200: {
        description: 'A page: `count` of `total` rows.',
        content: { ...json(receivedInvoicesListSchema, EXAMPLES.receivedList), ...csv(RECEIVED_COLUMNS) },
      },
    },
    errors: ['invalid_parameters', 'not_found', 'taxpayer_not_found'],
  },
  listAllReceived: {
    tag: RECEIVED,
    summary: 'Lists every e-CF that a buyer received in a period',
    description: PAGES,
    parameters: [...PERIOD, ...LISTING],
    answers: {
      200: {
        description: 'A page: `count` of `total` rows.',
        content: { ...json(allReceivedInvoicesSchema, EXAMPLES.allReceived), ...csv(RECEIVED_COLUMNS) },
      },
    },
    errors: ['invalid_parameters', 'not_found', 'taxpayer_not_found'],
  },
  countReceived: {
    tag: RECEIVED,
    summary: 'Returns the number and amount of the e-CF that a buyer received in a period',
    description: 'Credit notes count with a negative sign in the amount.',
    parameters: [...PERIOD, P.authorityStatusQuery],
    answers: {
      200: { description: 'The sums.', content: json(receivedInvoicesCountSchema, EXAMPLES.receivedCount) },
    },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  aggregateReceived: {
    tag: RECEIVED,
    summary: 'Returns sums of received e-CF by month, type, status and provider',
    description:
      'Every document counts with the amount it states, credit notes with a negative sign. Months follow `period`; `status` is the approval_status.',
    parameters: [...PERIOD, P.authorityStatusQuery, P.topProviders, P.bom],
    answers: {
      200: {
        description: 'The sums.',
        content: { ...json(receivedInvoiceAggregateSchema, EXAMPLES.receivedAggregate), ...csv(SUMS_BY_TYPE_COLUMNS) },
      },
    },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  findReceived: {
    tag: RECEIVED,
    summary: 'Returns one received invoice',
    description: '`conflicts` lists other received documents with the same number.',
    hasEtag: true,
    parameters: [P.encf, P.buyerHeader, P.optionalProviderHeader],
    answers: { 200: { description: 'The invoice.', content: json(receivedInvoiceSchema, EXAMPLES.received) } },
    errors: ['ambiguous_encf', 'not_found', 'taxpayer_not_found'],
  },
  receivedDocument: {
    tag: RECEIVED,
    summary: 'Returns a received e-CF in JSON, in the shape that is submitted',
    description: 'Without signature, with its FechaHoraFirma.',
    hasEtag: true,
    parameters: [P.encf, P.buyerHeader, P.optionalProviderHeader],
    answers: { 200: { description: 'The document.', content: json(invoiceDocumentSchema, signedInvoiceData) } },
    errors: ['ambiguous_encf', 'not_found', 'taxpayer_not_found', 'document_damaged', 'document_too_costly'],
  },
  acknowledgementXml: {
    tag: RECEIVED,
    summary: 'Returns the acknowledgement (ARECF) that a provider got',
    description: 'It is the answer that the provider got when it delivered the e-CF.',
    hasEtag: true,
    parameters: [P.encf, P.issuerQuery, P.optionalBuyerHeader],
    answers: { 200: { description: 'The bytes as they were signed.', content: xml(ARECF_XML) } },
    errors: ['invalid_issuer_rnc', 'ambiguous_encf', 'not_found', 'taxpayer_not_found', 'document_damaged'],
  },
} as const satisfies Partial<Record<OperationId, OperationDescription>>;
