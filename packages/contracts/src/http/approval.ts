import { z } from 'zod';
import {
  dateSchema,
  encfSchema,
  environmentSchema,
  freeTextSchema,
  rncSchema,
  timestampSchema,
} from '../environment.js';
import { approvalConfirmedSchema, approvalStatusSchema } from '../events/received-invoice.js';
import { signerSchema } from './signer.js';

/** Optional fields; null counts as absent. */
const optional = <S extends z.ZodType>(schema: S) => schema.nullish().transform((value) => value ?? null);

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
    ecf_document_id: optional(z.number().int().positive()).meta({
      description: 'Id of the received invoice; it must be that of the eNCF',
    }),
    version: optional(z.literal('1.0', 'version is 1.0')),
    issuer_rnc: rncSchema,
    receiver_rnc: rncSchema,
    encf: encfSchema,
    approval_status: z.union([z.literal(1), z.literal(2)], 'approval_status is 1 (approved) or 2 (rejected)'),
    rejection_code: optional(z.union([z.literal(1), z.literal(2), z.literal(3)], 'rejection_code is 1, 2 or 3')),
    rejection_description: optional(
      freeTextSchema.max(REJECTION_TEXT, `rejection_description has at most ${REJECTION_TEXT} characters`),
    ),
    approval_datetime: optional(
      z.iso.datetime({ offset: true, local: true, error: 'approval_datetime is an ISO 8601 timestamp' }),
    ).meta({ description: 'The time of the decision; by default that of the request' }),
    authority_environment: environmentSchema,
    invoice_date_issued: optional(dateSchema).meta({ description: FROM_RECEIVED }),
    invoice_total_amount: optional(requestedAmountSchema).meta({ description: FROM_RECEIVED }),
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
  });
export type ApprovalRequest = z.output<typeof approvalRequestSchema>;

export const authoritySubmissionStatusSchema = z.enum(['submitted', 'Aceptado', 'Rechazado', 'failed']);
export type AuthoritySubmissionStatus = z.infer<typeof authoritySubmissionStatusSchema>;

export const issuerDeliveryStatusSchema = z.enum(['pending', 'delivered', 'refused', 'no_receiver', 'failed']);
export type IssuerDeliveryStatus = z.infer<typeof issuerDeliveryStatusSchema>;

/** A commercial approval of ours (ACECF) in the answers of `/acecf`. */
export const approvalSchema = z.object({
  id: z.number().int().positive(),
  ecf_document_id: z
    .number()
    .int()
    .positive()
    .nullable()
    .meta({ description: 'Id of the received invoice; null if it was not received here' }),
  version: z.string(),
  issuer_rnc: rncSchema,
  receiver_rnc: rncSchema,
  encf: encfSchema,
  approval_status: z.number().int().meta({ description: '1 approved, 2 rejected' }),
  rejection_code: z.number().int().nullable(),
  rejection_description: z.string().nullable(),
  approval_datetime: timestampSchema,
  authority_environment: environmentSchema,
  invoice_date_issued: dateSchema.meta({ description: 'FechaEmision of the invoice, YYYY-MM-DD' }),
  invoice_total_amount: z.string().meta({ description: 'MontoTotal of the invoice, text with two decimals' }),
  xml_storage_path: z.string(),
  xml_checksum: z.string().nullable(),
  xml_schema_version: z.string(),
  sent_to_authority: z.boolean(),
  sent_to_authority_at: timestampSchema.nullable(),
  authority_submission_status: authoritySubmissionStatusSchema.nullable(),
  authority_response: z.string().nullable(),
  sent_to_issuer: z.boolean(),
  sent_to_issuer_at: timestampSchema.nullable(),
  issuer_delivery_status: issuerDeliveryStatusSchema.nullable(),
  issuer_delivery_error: z.string().nullable(),
  warnings: z.array(z.string()),
  superseded: z.boolean().meta({
    description:
      'True if the authority confirmed another document of this number since: this approval is not undone, and a new one is allowed',
  }),
  created_at: timestampSchema,
  /** Id of the API key; null for one of an earlier version. */
  created_by: z.string().nullable(),
});
export type Approval = z.infer<typeof approvalSchema>;

/** Answer of `GET /acecf/`. */
export const approvalListSchema = z.array(approvalSchema);

/** Answer of `POST /fe/aprobacioncomercial/api/ecf`: the authority's own names. Code 1 with status 200, 2 with 400. */
export const approvalReceiptSchema = z.object({
  codigo: z.enum(['1', '2']).meta({ description: '1 accepted, 2 refused' }),
  estado: z.string().meta({ description: 'The outcome as text' }),
  mensaje: z.array(z.string()).meta({ description: 'The reasons' }),
});
export type ApprovalReceipt = z.infer<typeof approvalReceiptSchema>;

/** Answer of `GET /fe/aprobacioncomercial/api/invoices/{encf}`. */
export const receivedApprovalSchema = z.object({
  encf: encfSchema,
  issuer_rnc: rncSchema,
  buyer_rnc: rncSchema.nullable(),
  approval_status: approvalStatusSchema,
  approval_confirmed: approvalConfirmedSchema,
  approval_datetime: timestampSchema.nullable(),
  rejection_reason: z.string().nullable(),
  signer: signerSchema.nullable().meta({ description: 'The signer of the answer that counts; null without one' }),
});
export type ReceivedApproval = z.infer<typeof receivedApprovalSchema>;

/** A buyer's answer (ACECF) to an e-CF of ours. */
export const approvalAnswerSchema = z.object({
  id: z.number().int().positive(),
  approval_status: z.enum(['approved', 'rejected']),
  rejection_reason: z.string().nullable(),
  received_at: timestampSchema,
  signer: signerSchema,
  confirmed: z.boolean().meta({ description: 'Whether the signer is known for the buyer' }),
  counts: z.boolean().meta({ description: 'Whether this answer decides `approval_status` of the e-CF' }),
});
export type ApprovalAnswer = z.infer<typeof approvalAnswerSchema>;

/** Answer of `GET /fe/aprobacioncomercial/api/invoices/{encf}/answers`: all answers that came, oldest first. */
export const approvalAnswersSchema = z.object({
  count: z.number().int().nonnegative(),
  answers: z.array(approvalAnswerSchema),
});
export type ApprovalAnswers = z.infer<typeof approvalAnswersSchema>;
