import { invoiceDocumentSchema } from '../api/document.js';
import { cancellationListSchema, cancellationRequestSchema, cancellationSchema } from '../http/cancellation.js';
import type { OperationId } from '../http/operations.js';
import {
  contingencyListSchema,
  ecfResponseSchema,
  rfceResponseSchema,
  submissionResponseSchema,
  tokenResponseSchema,
  xmlItemSchema,
} from '../http/submission.js';

import { json, type OperationDescription, xml } from './description.js';
import { ANECF_XML, EXAMPLES, invoiceData } from './examples.js';
import { PARAMETERS as P } from './parameters.js';

const TAG = 'Emission';
const CERTIFICATE = [
  'certificate_missing',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_unusable',
] as const;
const SIGNED = [
  'invalid_json',
  'not_utf8',
  'invalid_xml',
  'invalid_document',
  'document_too_costly',
  'wrong_endpoint',
  'invalid_token',
  'login_refused',
  'taxpayer_not_found',
  'not_found',
  'encf_already_used',
  'encf_cancelled',
  'conflict',
  'unsupported_media_type',
  'authority_unreachable',
  'authority_unreadable',
  'document_damaged',
  'commit_unconfirmed',
  ...CERTIFICATE,
] as const;

export const EMISSION = {
  obtainToken: {
    tag: TAG,
    summary: "Returns the authority's token of a taxpayer",
    description:
      'Gets a seed, signs it and exchanges it for a token, in one call. The gateway caches the token while it is valid.',
    parameters: [P.tokenOf],
    answers: { 200: { description: 'The token.', content: json(tokenResponseSchema, EXAMPLES.token) } },
    errors: [
      'login_refused',
      'not_found',
      'taxpayer_not_found',
      'authority_unreadable',
      'authority_unreachable',
      ...CERTIFICATE,
    ],
  },
  submitJson: {
    tag: TAG,
    summary: 'Checks, signs, stores and sends an invoice in JSON',
    description:
      'A type 32 under 250,000.00 goes to the authority as a summary (no trackId, with an immediate verdict), all other documents as full e-CF. The same invoice again gets the stored answer; FechaHoraFirma does not count in the comparison, and amounts are compared by value. If a number range is registered for the type, eNCF and FechaVencimientoSecuencia may be left out: the service gives the next number, and idempotency-key is required. A key names one submission for 30 days, also of a document with eNCF: the same document gets its answer again, another document or number is 409 idempotency_conflict. If the authority does not answer after the signature, the status is EnProceso and the gateway continues to send.',
    parameters: [P.idempotencyKey, P.reference, P.validate, P.warnings, P.contingency],
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['data'],
            properties: {
              data: { $ref: '#/components/schemas/InvoiceDocument', description: 'The invoice as JSON.' },
              certificate: {
                type: 'string',
                format: 'binary',
                description: 'PKCS#12 file (.p12, .pfx) that signs instead of the stored certificate.',
              },
              password: { type: 'string', description: 'Password of the certificate file.' },
            },
          },
          example: { data: invoiceData },
          encoding: {
            data: { contentType: 'application/json, text/plain, application/octet-stream' },
            certificate: { contentType: 'application/x-pkcs12, application/octet-stream' },
          },
        },
        ...json(invoiceDocumentSchema, invoiceData),
      },
    },
    answers: {
      200: {
        description:
          "The authority's verdict, or EnProceso. A note to a document that is not accepted yet is EnProceso with a message that names it.",
        content: json(submissionResponseSchema, EXAMPLES.submission),
      },
    },
    errors: [...SIGNED, 'idempotency_key_required', 'idempotency_conflict', 'range_exhausted', 'range_expired'],
  },
  listWaiting: {
    tag: TAG,
    summary: 'Lists the documents that wait for the authority, oldest first',
    description:
      'They were signed with `x-contingency: true` while the authority could not be reached. The gateway sends them when it answers again; `deadline` is set then. A note waits for the document that it modifies, too.',
    parameters: [P.waitingAfter, P.limit],
    answers: { 200: { description: 'The documents.', content: json(contingencyListSchema, EXAMPLES.contingencyList) } },
  },
  submitSigned: {
    tag: TAG,
    summary: 'Stores and sends a signed e-CF',
    description:
      'The gateway checks the signature and the document, keeps the bytes unchanged and sends them. The same bytes again get the stored answer.',
    parameters: [P.token, P.reference, P.validate],
    body: { required: true, content: json(xmlItemSchema, EXAMPLES.xmlItem) },
    answers: {
      200: {
        description:
          'The authority received it; or it is EnProceso without trackId, because the document in its message is not accepted yet.',
        content: json(ecfResponseSchema, EXAMPLES.signedSubmission),
      },
    },
    errors: [...SIGNED, 'authority_timeout'],
  },
  submitSignedSummary: {
    tag: TAG,
    summary: 'Stores and sends a signed summary (RFCE) of a consumer invoice under 250,000.00',
    description: 'The gateway keeps the summary only; the caller must keep the full e-CF.',
    parameters: [P.token, P.reference, P.validate],
    body: { required: true, content: json(xmlItemSchema, EXAMPLES.xmlItem) },
    answers: {
      200: { description: "The authority's verdict.", content: json(rfceResponseSchema, EXAMPLES.summarySubmission) },
    },
    errors: SIGNED,
  },
  createCancellation: {
    tag: 'Cancellation',
    summary: 'Cancels ranges of unused eNCF',
    description:
      'The gateway signs and stores the cancellation and sends it to the authority, which may accept some ranges and refuse others (Parcial). Without the header env, the environment of the body counts; different values in header and body are 422.',
    parameters: [P.submit],
    body: { required: true, content: json(cancellationRequestSchema, EXAMPLES.cancellationRequest) },
    answers: {
      201: {
        description: 'The record, whatever the authority says.',
        content: json(cancellationSchema, EXAMPLES.cancellation),
      },
    },
    errors: [
      'document_too_costly',
      'taxpayer_not_found',
      'unsupported_media_type',
      'encf_in_use',
      'commit_unconfirmed',
      'encf_cancelled',
      'conflict',
      'service_not_in_environment',
      'login_refused',
      'authority_unreachable',
      'authority_unreadable',
      ...CERTIFICATE,
    ],
  },
  listCancellations: {
    tag: 'Cancellation',
    summary: 'Lists the cancellations of an issuer, newest first',
    description: 'Each record has the decision of the authority for each range.',
    parameters: [P.issuerQuery, P.shortLimit, P.offset],
    answers: {
      200: { description: 'The records.', content: json(cancellationListSchema, [EXAMPLES.cancellation]) },
    },
    errors: ['taxpayer_not_found'],
  },
  findCancellation: {
    tag: 'Cancellation',
    summary: 'Returns one cancellation',
    description: 'A cancellation without a final answer is queried or sent again by the gateway.',
    hasEtag: true,
    parameters: [P.submissionId],
    answers: { 200: { description: 'The record.', content: json(cancellationSchema, EXAMPLES.cancellation) } },
    errors: ['not_found'],
  },
  cancellationXml: {
    tag: 'Cancellation',
    summary: 'Returns the signed ANECF',
    description: 'It is the document that was sent to the authority, or would have been with submit_to_authority=true.',
    hasEtag: true,
    parameters: [P.submissionId],
    answers: { 200: { description: 'The bytes as they were signed.', content: xml(ANECF_XML) } },
    errors: ['not_found', 'document_damaged'],
  },
} as const satisfies Partial<Record<OperationId, OperationDescription>>;
