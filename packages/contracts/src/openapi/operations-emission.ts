import { cancellationListSchema, cancellationRequestSchema, cancellationSchema } from '../http/cancellation.js';
import type { OperationId } from '../http/operations.js';
import {
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

const INVOICE_JSON = {
  type: 'object',
  required: ['ECF'],
  additionalProperties: false,
  properties: { ECF: { type: 'object' } },
  description:
    'The invoice under its root ECF, with the names and the nesting of the authority (reference: docs/rules.md). ' +
    'Leaves are text; numbers are taken too. Dates are DD-MM-YYYY.',
};

export const EMISSION = {
  obtainToken: {
    tag: TAG,
    summary: "The authority's token of a taxpayer",
    description: 'Seed, signature and validation in one call. The token is kept and given again while it is good.',
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
    summary: 'An invoice as JSON: checked, signed, stored and sent',
    description:
      'A type 32 under 250,000.00 goes as summary (no trackId, verdict at once), all others as e-CF. The same invoice again gets the stored answer. Where the authority is silent after the signature the answer is EnProceso and sending goes on.',
    parameters: [P.validate],
    body: {
      required: true,
      content: {
        'multipart/form-data': {
          schema: {
            type: 'object',
            required: ['data'],
            properties: {
              data: INVOICE_JSON,
              certificate: {
                type: 'string',
                format: 'binary',
                description: 'PKCS#12 file (.p12, .pfx), where not the stored certificate is to sign.',
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
      },
    },
    answers: {
      200: {
        description: "The authority's verdict, or EnProceso.",
        content: json(submissionResponseSchema, EXAMPLES.submission),
      },
    },
    errors: SIGNED,
  },
  submitSigned: {
    tag: TAG,
    summary: 'A signed e-CF',
    parameters: [P.token, P.validate],
    body: { required: true, content: json(xmlItemSchema, EXAMPLES.xmlItem) },
    answers: {
      200: { description: 'Taken by the authority.', content: json(ecfResponseSchema, EXAMPLES.signedSubmission) },
    },
    errors: [...SIGNED, 'authority_timeout'],
  },
  submitSignedSummary: {
    tag: TAG,
    summary: 'A signed summary (RFCE) of a consumer invoice under 250,000.00',
    description: 'Only the summary is kept here: the caller has to keep the whole e-CF.',
    parameters: [P.token, P.validate],
    body: { required: true, content: json(xmlItemSchema, EXAMPLES.xmlItem) },
    answers: {
      200: { description: "The authority's verdict.", content: json(rfceResponseSchema, EXAMPLES.summarySubmission) },
    },
    errors: SIGNED,
  },
  createCancellation: {
    tag: 'Cancellation',
    summary: 'Cancels ranges of eNCF that were never used',
    description:
      'Signed, stored and sent to the authority, which may take some ranges and refuse others (Parcial). The env of the body counts where the header is absent; both given and different is 422.',
    parameters: [P.submit],
    body: { required: true, content: json(cancellationRequestSchema, EXAMPLES.cancellationRequest) },
    answers: {
      201: {
        description: 'The record, whatever the authority says.',
        content: json(cancellationSchema, EXAMPLES.cancellation),
      },
    },
    errors: [
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
    summary: 'The cancellations of an issuer, newest first',
    parameters: [P.issuerQuery, P.shortLimit, P.offset],
    answers: {
      200: { description: 'The records.', content: json(cancellationListSchema, [EXAMPLES.cancellation]) },
    },
    errors: ['taxpayer_not_found'],
  },
  findCancellation: {
    tag: 'Cancellation',
    summary: 'One cancellation',
    parameters: [P.submissionId],
    answers: { 200: { description: 'The record.', content: json(cancellationSchema, EXAMPLES.cancellation) } },
    errors: ['not_found'],
  },
  cancellationXml: {
    tag: 'Cancellation',
    summary: 'The signed ANECF',
    parameters: [P.submissionId],
    answers: { 200: { description: 'The bytes as they were signed.', content: xml(ANECF_XML) } },
    errors: ['not_found', 'document_damaged'],
  },
} as const satisfies Partial<Record<OperationId, OperationDescription>>;
