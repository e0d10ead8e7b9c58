import { z } from 'zod';
import { encfSchema, environmentSchema, named, rncSchema, timestampSchema } from '../values.js';
import { ARECF_XML } from './examples.js';
import { optional, publicOperations, xml } from './operation.js';
import * as P from './parameters.js';
import { anyCaseEncf } from './parameters.js';
import { signerSchema } from './signer.js';

/**
 * An ARECF that a buyer's receiver returned, as `GET /received-arecf/` shows it. If `valid` is false, `validation_error`
 * has the reason, and the other fields have the readable parts of the document.
 */
const receivedAcknowledgementSchema = named(
  'Acknowledgement',
  {
    id: z.int().positive(),
    issuer_rnc: rncSchema,
    buyer_rnc: rncSchema,
    encf: encfSchema,
    env: environmentSchema,
    receipt_status: z
      .union([z.literal(0), z.literal(1)])
      .nullable()
      .describe('Estado: 0 received, 1 not received; null if it cannot be read'),
    rejection_code: z
      .int()
      .min(1)
      .max(4)
      .nullable()
      .describe('CodigoMotivoNoRecibido, 1 to 4; null if it was received'),
    rejection_reason: z.string().nullable(),
    acknowledged_at: timestampSchema.nullable().describe('FechaHoraAcuseRecibo; null if it cannot be read'),
    received_at: timestampSchema,
    valid: z.boolean().describe('Whether the document is a valid acknowledgement of what was sent'),
    validation_error: z.string().nullable().describe('Why it is not valid; null if it is'),
    xml_storage_path: z.string(),
    xml_checksum: z.string(),
    receiver: z
      .string()
      .nullable()
      .describe('Host of the receiver that answered the delivery; null if it was not stored'),
    signer: signerSchema.nullable().describe('The signer; null if the signature is not valid'),
  },
  { description: 'An acknowledgement of receipt that a buyer returned for an issued e-CF.' },
);
export type ReceivedAcknowledgement = z.infer<typeof receivedAcknowledgementSchema>;

export const ACKNOWLEDGEMENTS = publicOperations('Acknowledgements of buyers', 'approvals', {
  listReceivedAcknowledgements: {
    route: 'GET /received-arecf',
    scopes: ['read'],
    summary: 'Lists the ARECF that buyers returned, newest first',
    description: 'Answers that are not valid acknowledgements are listed too, with `valid` false.',
    query: {
      issuer_rnc: P.issuerQuery,
      encf: anyCaseEncf.optional().describe('Only this eNCF.'),
      receipt_status: optional(z.union([z.literal(0), z.literal(1)]), 'Only received (0) or not received (1).', 0),
      limit: P.shortLimit,
      offset: P.offset,
    },
    response: z.array(receivedAcknowledgementSchema),
    errors: ['taxpayer_not_found'],
  },
  findReceivedAcknowledgement: {
    route: 'GET /received-arecf/{encf}',
    scopes: ['read'],
    summary: 'Returns the valid ARECF of a number, else the latest one with its faults',
    description: 'If no valid one was received, `validation_error` says what is wrong with the latest.',
    params: { encf: P.encf },
    query: { issuer_rnc: P.issuerQuery },
    response: receivedAcknowledgementSchema,
    hasEtag: true,
    errors: ['not_found', 'taxpayer_not_found'],
  },
  receivedAcknowledgementXml: {
    route: 'GET /received-arecf/{encf}/xml',
    scopes: ['read'],
    summary: 'Returns the bytes that the buyer returned',
    description: 'Of the acknowledgement that the operation without /xml shows.',
    params: { encf: P.encf },
    query: { issuer_rnc: P.issuerQuery },
    response: xml('The bytes as received.', ARECF_XML),
    hasEtag: true,
    errors: ['not_found', 'taxpayer_not_found', 'document_damaged'],
  },
});
