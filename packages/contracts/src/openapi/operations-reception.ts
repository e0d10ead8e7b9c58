import type { OperationId } from '../http/operations.js';
import {
  allReceivedInvoicesSchema,
  providerTokenSchema,
  receivedInvoiceSchema,
  receivedInvoicesCountSchema,
  receivedInvoicesListSchema,
} from '../http/received-invoice.js';
import { type Content, json, type OperationDescription, xml } from './description.js';
import { ARECF_XML, ECF_XML, EXAMPLES, SEED_XML } from './examples.js';
import { PARAMETERS as P } from './parameters.js';

const DOORS = 'Doors for other taxpayers';
const RECEIVED = 'Received invoices';
const PERIOD = [P.startDate, P.endDate, P.buyerHeader] as const;

/** The part `xml` of the doors' forms. */
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

/** What holds for every door. */
export const DOOR =
  'Needs no key; a key that is sent is ignored. The path matches in any case, with `recepción` written with its accent too, and under a prefix `/testecf`, `/certecf` or `/ecf` that names the environment.';

export const RECEPTION = {
  receiveInvoice: {
    tag: DOORS,
    summary: 'An e-CF of a provider in, its signed acknowledgement (ARECF) out',
    description: `${DOOR} Acceptance (Estado 0) and refusal (Estado 1 with CodigoMotivo 1 to 4) are both 200.`,
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
    tag: DOORS,
    summary: 'A seed to sign',
    description: DOOR,
    answers: { 200: { description: 'The seed.', content: xml(SEED_XML) } },
  },
  validateSeed: {
    tag: DOORS,
    summary: 'A signed seed in, a Bearer token for the doors out',
    description: `${DOOR} JSON or XML, as the header Accept asks.`,
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
    summary: 'What a provider sent to a buyer in a period, newest first',
    parameters: [P.providerHeader, ...PERIOD, P.limit, P.offset],
    answers: {
      200: { description: 'count of total rows.', content: json(receivedInvoicesListSchema, EXAMPLES.receivedList) },
    },
    errors: ['invalid_parameters', 'not_found', 'taxpayer_not_found'],
  },
  listAllReceived: {
    tag: RECEIVED,
    summary: 'Everything that reached a buyer in a period, newest first',
    parameters: [...PERIOD, P.limit, P.offset],
    answers: {
      200: { description: 'count of total rows.', content: json(allReceivedInvoicesSchema, EXAMPLES.allReceived) },
    },
    errors: ['invalid_parameters', 'not_found', 'taxpayer_not_found'],
  },
  countReceived: {
    tag: RECEIVED,
    summary: 'Number and amount of what reached a buyer in a period',
    parameters: PERIOD,
    answers: {
      200: { description: 'The sums.', content: json(receivedInvoicesCountSchema, EXAMPLES.receivedCount) },
    },
    errors: ['not_found', 'taxpayer_not_found'],
  },
  findReceived: {
    tag: RECEIVED,
    summary: 'One received invoice',
    parameters: [P.encf, P.buyerHeader, P.optionalProviderHeader],
    answers: { 200: { description: 'The invoice.', content: json(receivedInvoiceSchema, EXAMPLES.received) } },
    errors: ['ambiguous_encf', 'not_found', 'taxpayer_not_found'],
  },
  acknowledgementXml: {
    tag: RECEIVED,
    summary: 'The acknowledgement (ARECF) that a provider got, once more',
    parameters: [P.encf, P.issuerQuery, P.optionalBuyerHeader],
    answers: { 200: { description: 'The bytes as they were signed.', content: xml(ARECF_XML) } },
    errors: ['invalid_issuer_rnc', 'ambiguous_encf', 'not_found', 'taxpayer_not_found', 'document_damaged'],
  },
} as const satisfies Partial<Record<OperationId, OperationDescription>>;
