import { z } from 'zod';
import { approvalConfirmedSchema, approvalStatusSchema } from '../events/received-invoice.js';
import {
  dateSchema,
  encfSchema,
  environmentSchema,
  freeTextSchema,
  named,
  rncSchema,
  timestampSchema,
} from '../values.js';
import { errorBodySchema } from './error-body.js';
import { ACECF_XML, BUYER, ISSUER } from './examples.js';
import { READ_APPROVED } from './key-rights.js';
import {
  AUTHORITY_ERRORS,
  CERTIFICATE_ERRORS,
  optional,
  PUBLIC_ROUTE,
  publicOperations,
  xml,
  xmlForm,
} from './operation.js';
import * as P from './parameters.js';
import { signerSchema } from './signer.js';

/** Optional fields; null counts as absent. */
const orNull = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? null);

/** Up to two decimals, as text or as a number. */
const requestedAmountSchema = z
  .union([z.string().regex(/^\d{1,16}(\.\d{1,2})?$/, 'an amount has digits and at most two decimals'), z.number()])
  .transform(String)
  .pipe(z.string().regex(/^\d{1,16}(\.\d{1,2})?$/, 'an amount has digits and at most two decimals'));

const REJECTION_TEXT = 250;
const FROM_RECEIVED = 'By default that of the received e-CF; required if it was not received here';

/** Body of `POST /acecf/`: the decision of a buyer about an e-CF that it received. */
export const approvalRequestSchema = z
  .strictObject({
    ecf_document_id: orNull(z.int().positive()).describe('Id of the received invoice; it must be that of the eNCF'),
    version: orNull(z.literal('1.0', 'version is 1.0')),
    issuer_rnc: rncSchema,
    receiver_rnc: rncSchema,
    encf: encfSchema,
    approval_status: z.union([z.literal(1), z.literal(2)], 'approval_status is 1 (approved) or 2 (rejected)'),
    rejection_code: orNull(z.union([z.literal(1), z.literal(2), z.literal(3)], 'rejection_code is 1, 2 or 3')),
    rejection_description: orNull(
      freeTextSchema.max(REJECTION_TEXT, `rejection_description has at most ${REJECTION_TEXT} characters`),
    ),
    approval_datetime: orNull(
      z.iso.datetime({ offset: true, local: true, error: 'approval_datetime is an ISO 8601 timestamp' }),
    ).describe('The time of the decision; by default that of the request'),
    authority_environment: environmentSchema,
    invoice_date_issued: orNull(dateSchema).describe(FROM_RECEIVED),
    invoice_total_amount: orNull(requestedAmountSchema).describe(FROM_RECEIVED),
  })
  .superRefine((request, context) => {
    const fault = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message, input: request });
    const { approval_status, rejection_code, rejection_description } = request;
    if (approval_status === 2 && rejection_code === null)
      fault('rejection_code', 'A rejection (approval_status 2) needs rejection_code 1, 2 or 3.');
    if (approval_status === 1 && rejection_code !== null)
      fault('rejection_code', 'An approval (approval_status 1) has no rejection_code.');
    if (approval_status === 1 && rejection_description !== null)
      fault('rejection_description', 'An approval (approval_status 1) has no rejection_description.');
    if (rejection_code === 3 && (rejection_description ?? '').trim() === '')
      fault('rejection_description', 'rejection_code 3 needs its reason in rejection_description.');
  })
  .meta({
    id: 'ApprovalRequest',
    examples: [
      {
        issuer_rnc: ISSUER,
        receiver_rnc: BUYER,
        encf: 'E310000000101',
        approval_status: 1,
        authority_environment: 'TesteCF',
        invoice_total_amount: '550.00',
      },
    ],
  });
export type ApprovalRequest = z.output<typeof approvalRequestSchema>;

export const authoritySubmissionStatusSchema = z.enum(['submitted', 'Aceptado', 'Rechazado', 'failed']);
export type AuthoritySubmissionStatus = z.infer<typeof authoritySubmissionStatusSchema>;

export const issuerDeliveryStatusSchema = z.enum(['pending', 'delivered', 'refused', 'no_receiver', 'failed']);
export type IssuerDeliveryStatus = z.infer<typeof issuerDeliveryStatusSchema>;

/** A commercial approval (ACECF) that we gave, in the responses of `/acecf`. */
const approvalSchema = named('Approval', {
  id: z.int().positive(),
  ecf_document_id: z
    .int()
    .positive()
    .nullable()
    .describe('Id of the received invoice; null if it was not received here'),
  version: z.string(),
  issuer_rnc: rncSchema,
  receiver_rnc: rncSchema,
  encf: encfSchema,
  approval_status: z.int().describe('1 approved, 2 rejected'),
  rejection_code: z.int().nullable(),
  rejection_description: z.string().nullable(),
  approval_datetime: timestampSchema,
  authority_environment: environmentSchema,
  invoice_date_issued: dateSchema.describe('FechaEmision of the invoice, YYYY-MM-DD'),
  invoice_total_amount: z.string().describe('MontoTotal of the invoice, text with two decimals'),
  xml_storage_path: z.string(),
  xml_checksum: z.string().nullable(),
  xml_schema_version: z.string(),
  sent_to_authority: z.boolean(),
  sent_to_authority_at: timestampSchema.nullable().describe('When it was sent to the authority; null if it was not'),
  authority_submission_status: authoritySubmissionStatusSchema.nullable(),
  authority_response: z.string().nullable(),
  sent_to_issuer: z.boolean().describe('Whether it was sent to the issuer'),
  sent_to_issuer_at: timestampSchema.nullable().describe('When it was sent to the issuer; null if it was not'),
  issuer_delivery_status: issuerDeliveryStatusSchema.nullable(),
  issuer_delivery_error: z.string().nullable(),
  warnings: z.array(z.string()),
  superseded: z
    .boolean()
    .describe(
      'True if the authority confirmed another document of this number since: this approval is not undone, and a new one is allowed',
    ),
  created_at: timestampSchema,
  created_by: z.string().nullable(),
});
export type Approval = z.infer<typeof approvalSchema>;

const approvalListSchema = z.array(approvalSchema);

/** Response of `POST /fe/aprobacioncomercial/api/ecf`: the authority's own names. Code 1 with status 200, 2 with 400. */
const approvalReceiptSchema = named('ApprovalReceipt', {
  codigo: z.enum(['1', '2']).describe('1 accepted, 2 refused'),
  estado: z.string().describe('The outcome as text'),
  mensaje: z.array(z.string()).describe('The reasons'),
});
export type ApprovalReceipt = z.infer<typeof approvalReceiptSchema>;

export const receivedApprovalSchema = named(
  'ReceivedApproval',
  {
    encf: encfSchema,
    issuer_rnc: rncSchema,
    buyer_rnc: rncSchema.nullable(),
    approval_status: approvalStatusSchema,
    approval_confirmed: approvalConfirmedSchema,
    approval_datetime: timestampSchema.nullable(),
    rejection_reason: z.string().nullable(),
    signer: signerSchema.nullable().describe('The signer of the answer that counts; null without one'),
  },
  { description: 'The decision; `pending` if there is none.' },
);
export type ReceivedApproval = z.infer<typeof receivedApprovalSchema>;

/** A buyer's answer (ACECF) to an e-CF that we issued. */
export const approvalAnswerSchema = named('ApprovalAnswer', {
  id: z.int().positive(),
  approval_status: z.enum(['approved', 'rejected']),
  rejection_reason: z.string().nullable(),
  received_at: timestampSchema,
  signer: signerSchema,
  confirmed: z.boolean().describe('Whether the signer is known for the buyer'),
  counts: z.boolean().describe('Whether this answer decides `approval_status` of the e-CF'),
});
export type ApprovalAnswer = z.infer<typeof approvalAnswerSchema>;

/** Response of `GET /fe/aprobacioncomercial/api/invoices/{encf}/answers`: all answers that came, oldest first. */
const approvalAnswersSchema = named(
  'ApprovalAnswers',
  {
    count: z.int().nonnegative(),
    answers: z.array(approvalAnswerSchema),
  },
  { description: 'The answers; at most a thousand.' },
);
export type ApprovalAnswers = z.infer<typeof approvalAnswersSchema>;

export const APPROVALS = publicOperations('Commercial approval', 'approvals', {
  createApproval: {
    route: 'POST /acecf',
    scopes: ['approve'],
    environmentInBody: true,
    summary: 'Approves or rejects a received e-CF',
    description:
      'The gateway signs and stores the approval, then sends it to the authority and to the issuer. The response is the record, whatever the authority says. Each recipient has its own state. approval_datetime, invoice_date_issued and invoice_total_amount may be left out for an e-CF that was received here; for another one 422 names the fields that are needed. To send an approval that was only stored, repeat the request with submit_to_authority=true; it keeps its id.',
    query: { submit_to_authority: P.submit },
    body: approvalRequestSchema,
    status: 201,
    response: approvalSchema,
    errors: [
      'taxpayer_not_found',
      'not_found',
      'unsupported_media_type',
      'already_answered',
      'conflict',
      ...AUTHORITY_ERRORS,
      ...CERTIFICATE_ERRORS,
    ],
  },
  listApprovals: {
    route: 'GET /acecf',
    scopes: READ_APPROVED,
    summary: 'Lists the decisions of a buyer, newest first',
    description: 'Decisions about received e-CF of one buyer of the account.',
    query: {
      receiver_rnc: rncSchema.describe('RNC of the buyer that decided.'),
      issuer_rnc: rncSchema.optional().describe('Only decisions about e-CF of this issuer.'),
      encf: optional(P.anyCaseEncf, 'Only decisions about e-CF of this number.', 'E310000000101'),
      open: optional(
        z.enum(['true', 'false']),
        'true: only decisions that the authority has not answered, or that it has not refused and the issuer does not have. Decisions that were not sent, or are superseded, are left out.',
        'true',
      ),
      limit: P.shortLimit,
      offset: P.offset,
    },
    response: approvalListSchema,
    errors: ['taxpayer_not_found'],
  },
  findApproval: {
    route: 'GET /acecf/{approval_id}',
    scopes: READ_APPROVED,
    summary: 'Returns one decision',
    description: 'The states at the authority and at the issuer change until both have answered.',
    params: { approval_id: P.approvalId },
    response: approvalSchema,
    hasEtag: true,
    errors: ['not_found'],
  },
  approvalXml: {
    route: 'GET /acecf/{approval_id}/xml',
    scopes: READ_APPROVED,
    summary: 'Returns the signed ACECF',
    description: 'It is the document that the authority and the issuer get.',
    params: { approval_id: P.approvalId },
    response: xml('The bytes as they were signed.', ACECF_XML),
    hasEtag: true,
    errors: ['not_found', 'document_damaged'],
  },
  receiveApproval: {
    route: 'POST /fe/aprobacioncomercial/api/ecf',
    summary: "Receives a buyer's approval or rejection of an e-CF that was issued here",
    description: PUBLIC_ROUTE,
    tag: 'Routes for other taxpayers',
    headers: { authorization: P.authorization },
    body: xmlForm('The signed ACECF.', ACECF_XML),
    response: approvalReceiptSchema,
    otherResponses: {
      400: z.union([approvalReceiptSchema, errorBodySchema]).meta({
        description: 'Refused, with the reasons; or the request is not well-formed.',
        examples: [
          {
            codigo: '2',
            estado: 'Aprobacion Comercial Rechazada',
            mensaje: ['MontoTotal is not the amount of the e-CF.'],
          },
        ],
      }),
    },
    errors: ['taxpayer_not_found', 'invalid_provider_token', 'unsupported_media_type', 'daily_bytes_used'],
  },
  findReceivedApproval: {
    route: 'GET /fe/aprobacioncomercial/api/invoices/{encf}',
    scopes: ['receive'],
    summary: "Returns the buyer's decision about an issued e-CF",
    description: 'If several answers were received, the one that counts.',
    params: { encf: P.encf },
    query: { issuer_rnc: P.issuerQuery },
    response: receivedApprovalSchema,
    hasEtag: true,
    errors: ['not_found', 'taxpayer_not_found'],
  },
  listApprovalAnswers: {
    route: 'GET /fe/aprobacioncomercial/api/invoices/{encf}/answers',
    scopes: ['receive'],
    summary: 'Lists every answer (ACECF) that was received for an issued e-CF, oldest first',
    description:
      'A signature does not prove that its signer acts for the buyer. The first answer counts; that of a signer unknown for the buyer is unconfirmed until an answer of a known one replaces it. A known signer has signed an ARECF of this buyer to us, or an e-CF of the buyer that the authority confirmed. An operator can decide whether an answer counts.',
    params: { encf: P.encf },
    query: { issuer_rnc: P.issuerQuery },
    response: approvalAnswersSchema,
    errors: ['not_found', 'taxpayer_not_found'],
  },
});
