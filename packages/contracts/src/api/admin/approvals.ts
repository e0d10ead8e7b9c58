import { z } from 'zod';
import { encfSchema, environmentSchema, freeTextSchema, rncSchema, timestampSchema } from '../../values.js';
import { approvalAnswerSchema, authoritySubmissionStatusSchema, issuerDeliveryStatusSchema } from '../approvals.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';
import * as P from '../parameters.js';
import { doubtfulFilterSchema } from './cancellations.js';

/** A commercial approval that we gave, for operators. */
export const undecidedApprovalSchema = z.object({
  id: z.int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  receiver_rnc: rncSchema,
  encf: encfSchema,
  account_id: z.string(),
  approval_status: z.union([z.literal(1), z.literal(2)]).describe('Estado: 1 approved, 2 rejected'),
  authority_submission_status: authoritySubmissionStatusSchema.nullable(),
  tries: z.int().nonnegative(),
  authority_response: z.string().nullable().describe("The beginning of the authority's last answer; null without one"),
  issuer_delivery_status: issuerDeliveryStatusSchema.nullable(),
  issuer_tries: z.int().nonnegative().describe('Number of sends to the issuer'),
  issuer_delivery_error: z.string().nullable(),
  submitted_at: timestampSchema,
  settled_at: timestampSchema.nullable(),
  note: z.string().nullable(),
});

/** The query of `GET /admin/approvals/undecided`. */
export const undecidedFilterSchema = doubtfulFilterSchema.extend({
  settled: z.enum(['true', 'false']).default('false').describe('true lists approvals that a person settled.'),
  undelivered: z
    .enum(['true', 'false'])
    .default('false')
    .describe(
      'true lists approvals that did not reach their issuer: no_receiver, refused, failed. `settled` is then ignored.',
    ),
});

/** In the order of their ids; `next` is null at the end. */
export const undecidedPageSchema = z.object({
  approvals: z.array(undecidedApprovalSchema).describe('The approvals of this page'),
  next: z.int().nullable(),
});

/** The outcome of an approval that a person found out. */
export const approvalSettlementSchema = z.object({
  id: z.int().positive(),
  outcome: z
    .enum(['accepted', 'rejected'])
    .describe('accepted: the authority has it. rejected: it does not, and a new decision is possible'),
  note: freeTextSchema.trim().min(1).max(1_000),
});

/** An operator's decision whether a buyer's answer counts. */
export const answerDecisionSchema = z.strictObject({
  counts: z.boolean().describe('Whether the answer decides the approval_status of the e-CF'),
  reason: freeTextSchema.trim().min(1).max(1_000).describe('The reason, in the words of the person who decided'),
});

/** A buyer's answer after an operator's decision. Ids are text below `/admin`. */
export const decidedAnswerSchema = approvalAnswerSchema.extend({ id: z.string() });

/** Names an approval. */
export const approvalNameSchema = z.object({ id: z.int().positive() });

export const UNDECIDED_APPROVALS = operations<AdminOperation>('Approvals', {
  listUndecided: {
    route: 'GET /admin/approvals/undecided',
    role: 'viewer',
    summary:
      'Lists our approvals that the authority has not decided, that a person settled, or that did not reach their issuer',
    description: 'The gateway cannot find out by itself whether the authority has these approvals.',
    query: undecidedFilterSchema.shape,
    response: undecidedPageSchema,
    errors: ['validation_error'],
  },
  settleApproval: {
    route: 'POST /admin/approvals/settle',
    role: 'operator',
    summary: 'Records the outcome of an approval that the authority does not answer',
    description:
      '`accepted`: the authority has the approval. `rejected`: it does not, and a new decision about the e-CF is possible. The gateway does not send it to the authority again.',
    body: approvalSettlementSchema,
    response: undecidedApprovalSchema,
    errors: [...BODY_ERRORS, 'not_found', 'conflict'],
  },
  retryApproval: {
    route: 'POST /admin/approvals/retry',
    role: 'operator',
    summary: 'Sends an approval to its issuer immediately, with a new deadline',
    description: 'The approval must be the standing decision, and its issuer must not have it.',
    body: approvalNameSchema,
    response: undecidedApprovalSchema,
    errors: [...BODY_ERRORS, 'not_found', 'conflict'],
  },
  decideApproval: {
    route: 'POST /admin/accounts/{id}/approvals/{answerId}/decide',
    role: 'operator',
    summary: "Decides whether a buyer's answer to an issued e-CF counts",
    description:
      'If it counts, it decides `approval_status` instead of the present one. If it does not, and no other answer counts, `approval_status` is `pending`. The reason is kept. `confirmed` stays as it is: it says whether the signer is known for the buyer.',
    params: {
      id: P.accountId,
      answerId: z
        .string()
        .regex(/^[1-9]\d{0,14}$/)
        .meta({ description: 'Id of the answer.', examples: ['11'] }),
    },
    body: answerDecisionSchema,
    response: decidedAnswerSchema,
    errors: [...BODY_ERRORS, 'not_found', 'service_unavailable'],
  },
});
