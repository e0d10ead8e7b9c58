import { z } from 'zod';
import { encfSchema, environmentSchema, freeTextSchema, rncSchema, timestampSchema } from '../../environment.js';
import { approvalAnswerSchema, authoritySubmissionStatusSchema, issuerDeliveryStatusSchema } from '../approvals.js';
import { type AdminOperation, BODY_ERRORS, operations } from '../operation.js';
import * as P from '../parameters.js';

/** A commercial approval of ours for operators. */
export const undecidedApprovalSchema = z.object({
  id: z.int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  receiver_rnc: rncSchema,
  encf: encfSchema,
  account_id: z.string(),
  approval_status: z.union([z.literal(1), z.literal(2)]).describe('Estado: 1 approved, 2 rejected'),
  authority_submission_status: authoritySubmissionStatusSchema.nullable(),
  /** Number of sends to the authority. */
  tries: z.int().nonnegative(),
  /** The beginning of the authority's last answer. */
  authority_response: z.string().nullable(),
  issuer_delivery_status: issuerDeliveryStatusSchema.nullable(),
  /** Number of sends to the issuer. */
  issuer_tries: z.int().nonnegative(),
  issuer_delivery_error: z.string().nullable(),
  submitted_at: timestampSchema,
  settled_at: timestampSchema.nullable(),
  note: z.string().nullable(),
});

/** The filter: undecided ones, those that a person settled, or those that did not reach their issuer. */
export const undecidedFilterSchema = z.object({
  env: environmentSchema.optional(),
  issuer_rnc: rncSchema.optional(),
  settled: z.enum(['true', 'false']).default('false'),
  /** True lists those without receiver, refused or failed; `settled` is then ignored. */
  undelivered: z.enum(['true', 'false']).default('false'),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  /** Where to continue: `next` of the answer. */
  after: z.coerce.number().int().nonnegative().default(0),
});

/** In the order of their ids; `next` is null at the end. */
export const undecidedPageSchema = z.object({
  approvals: z.array(undecidedApprovalSchema),
  next: z.int().nullable(),
});

/** The outcome of an approval that a person found out. */
export const approvalSettlementSchema = z.object({
  id: z.int().positive(),
  outcome: z
    .enum(['accepted', 'rejected'])
    .describe('accepted: the authority has it. rejected: it does not, and a new decision is possible'),
  /** The reason in the person's words; it is stored. */
  note: freeTextSchema.trim().min(1).max(1_000),
});

/** An operator's decision whether a buyer's answer counts. */
export const answerRulingSchema = z.strictObject({
  counts: z.boolean(),
  /** The reason in the operator's words; it is stored. */
  reason: freeTextSchema.trim().min(1).max(1_000),
});

/** A buyer's answer after an operator's decision. Ids are text below `/admin`. */
export const ruledAnswerSchema = approvalAnswerSchema.extend({ id: z.string() });

/** Names an approval. */
export const approvalNameSchema = z.object({ id: z.int().positive() });

export const UNDECIDED_APPROVALS = operations<AdminOperation>('Approvals', {
  listUndecided: {
    route: 'GET /admin/approvals/undecided',
    role: 'viewer',
    summary:
      'Lists our approvals that the authority has not decided, that a person settled, or that did not reach their issuer',
    description: 'The gateway cannot find out by itself whether the authority has these approvals.',
    query: {
      env: P.deliveryEnv,
      issuer_rnc: P.deliveryIssuer,
      settled: P.settled,
      undelivered: z
        .enum(['true', 'false'])
        .default('false')
        .meta({
          description:
            'true lists those that did not reach their issuer: no_receiver, refused, failed. `settled` is then ignored.',
          examples: ['false'],
        }),
      limit: P.doubtfulLimit,
      after: P.alarmedAfter,
    },
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
    body: answerRulingSchema,
    response: ruledAnswerSchema,
    errors: [...BODY_ERRORS, 'not_found', 'service_unavailable'],
  },
});
