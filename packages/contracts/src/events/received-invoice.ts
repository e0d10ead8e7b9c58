import { z } from 'zod';
import { faultSchema } from '../api/error-body.js';
import {
  amountSchema,
  dateSchema,
  ecfTypeSchema,
  environmentSchema,
  rncSchema,
  runSchema,
  timestampSchema,
} from '../values.js';

/** The decision of the buyer about a received document. */
export const approvalStatusSchema = z.enum(['pending', 'approved', 'rejected']);
export type ApprovalStatus = z.infer<typeof approvalStatusSchema>;

/** Whether a known signer made the decision in `approval_status`; false while it is `pending`. */
export const approvalConfirmedSchema = z
  .boolean()
  .describe(
    'True if a known signer made the decision; false while it is pending, and for the answer of a signer who is not known for the buyer',
  );

/** The authority's status of a received document; `pending` until its first answer. */
export const authorityStatusSchema = z
  .enum(['pending', 'confirmed', 'rejected', 'unknown', 'not_available'])
  .describe(
    '`confirmed`: the authority accepted a document with this security code, total and buyer. `unknown`: it has no such document. `not_available`: it cannot be queried there (CerteCF)',
  );
export type AuthorityStatus = z.infer<typeof authorityStatusSchema>;

/** The signer of a document, with the fields by which consumers recognise it. */
const eventSignerSchema = z.object({
  subject: z.string(),
  serial_number: z.string(),
  issuer: z.string(),
  fingerprint: z.string(),
  key_fingerprint: z.string().describe('SHA-256 of the public key'),
  holder_id: z.string().nullable(),
  trusted: z.boolean().nullable(),
});

/** Another document under a number that is taken: signed and well-formed, with other bytes. */
const receivedConflictSchema = z.object({
  id: z.int().positive().optional(),
  sha256: z.string(),
  date_received: timestampSchema,
  certificate_subject: z.string(),
  xml_storage_path: z.string(),
  authority_status: authorityStatusSchema.optional(),
});

/** Maximum number of competing documents of a number in an event. */
export const MAX_EVENT_CONFLICTS = 100;

/** `received_invoice.changed`, and with the same data `received.confirmed` and `received.disputed`. */
export const receivedInvoiceChangedSchema = z
  .object({
    id: z.int().positive(),
    env: environmentSchema,
    issuer_rnc: rncSchema.describe('RNC of the provider'),
    encf: z.string().min(1).describe('The number as received; `observations` names it if it is not E and 12 digits'),
    buyer_rnc: rncSchema,
    account_id: z.string().min(1).describe('The account of the buyer at the time of receipt'),
    revision: z.int().positive(),
    ecf_type: ecfTypeSchema,
    issuer_name: z.string(),
    buyer_name: z.string().nullable(),
    date_received: timestampSchema,
    date_issued: dateSchema.nullable().describe('FechaEmision, YYYY-MM-DD; null if the day does not exist'),
    total_amount: amountSchema,
    total_itbis: amountSchema,
    modified_encf: z.string().nullable(),
    signature_datetime: z
      .string()
      .nullable()
      .describe('YYYY-MM-DD HH:MM:SS, as the document states it; null if it states an impossible time'),
    xml_storage_path: z.string(),
    xml_checksum: z.string(),
    arecf_storage_path: z.string(),
    arecf_checksum: z.string(),
    acknowledged_at: timestampSchema,
    certificate_subject: z.string(),
    signer: eventSignerSchema.optional(),
    authority_status: authorityStatusSchema.optional(),
    authority_checked_at: timestampSchema.nullable().optional(),
    promoted_at: timestampSchema
      .nullable()
      .optional()
      .describe(
        'When the document took the number from another one, because the authority confirmed it; `id` is new then',
      ),
    approval_status: approvalStatusSchema,
    approval_confirmed: approvalConfirmedSchema.optional(),
    approval_datetime: timestampSchema.nullable(),
    observations: z
      .array(faultSchema.partial({ severity: true }))
      .describe('What the rules and the check of the signature found'),
    conflicts: z
      .array(receivedConflictSchema)
      .describe(
        `Other documents with this number that are kept, at most ${MAX_EVENT_CONFLICTS}; listings show the total`,
      ),
  })
  .describe(
    'The whole present state of a document that a provider sent and that was acknowledged with Estado 0. Revisions count per document.',
  );
export type ReceivedInvoiceChanged = z.infer<typeof receivedInvoiceChangedSchema>;

/** Most faults and warnings of a received document that are kept and published. */
export const MAX_OBSERVATIONS = 20;

/**
 * `approval.changed` with direction `given`: the decision about a document that one of our taxpayers received. `revision`
 * increases per document; a withdrawn decision is published as `pending` with a higher one.
 */
const receivedInvoiceDecisionSchema = z.object({
  direction: z.literal('given'),
  env: environmentSchema,
  run: runSchema.optional().describe('Of a decision received: the certification run of the issuer; absent means 1'),
  issuer_rnc: rncSchema,
  encf: z.string().min(1),
  buyer_rnc: rncSchema,
  revision: z.int().positive(),
  approval_status: approvalStatusSchema,
  approval_confirmed: approvalConfirmedSchema.optional(),
  approval_datetime: timestampSchema.nullable(),
  refused_by_authority: z
    .boolean()
    .optional()
    .describe('True if there is no decision because the authority refused the former one'),
  refused_by_issuer: z
    .boolean()
    .optional()
    .describe('True if the issuer refused the decision; the decision at the authority did not change'),
});
export type ReceivedInvoiceDecision = z.infer<typeof receivedInvoiceDecisionSchema>;

/**
 * `approval.changed` with direction `received`: the buyer's decision about a document that one of our taxpayers issued.
 * `revision` increases per document. The answer of a known signer replaces that of a stranger, and an operator may decide
 * that an answer does not count. Without an answer that counts it is `pending`.
 */
const issuedInvoiceDecisionSchema = receivedInvoiceDecisionSchema.extend({ direction: z.literal('received') });
export type IssuedInvoiceDecision = z.infer<typeof issuedInvoiceDecisionSchema>;

/** The data of `approval.changed`; `direction` distinguishes the two kinds. */
export const approvalChangedSchema = z.discriminatedUnion('direction', [
  receivedInvoiceDecisionSchema,
  issuedInvoiceDecisionSchema,
]);
export type ApprovalChanged = z.infer<typeof approvalChangedSchema>;
