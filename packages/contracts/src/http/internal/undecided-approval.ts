import { z } from 'zod';
import { encfSchema, environmentSchema, freeTextSchema, rncSchema, timestampSchema } from '../../environment.js';
import { approvalAnswerSchema, authoritySubmissionStatusSchema, issuerDeliveryStatusSchema } from '../approval.js';
import { actedSchema } from '../audit.js';

/** A commercial approval of ours for operators. */
export const undecidedApprovalSchema = z.object({
  id: z.number().int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  receiver_rnc: rncSchema,
  encf: encfSchema,
  account_id: z.string(),
  approval_status: z.union([z.literal(1), z.literal(2)]).meta({ description: 'Estado: 1 approved, 2 rejected' }),
  authority_submission_status: authoritySubmissionStatusSchema.nullable(),
  /** Number of sends to the authority. */
  tries: z.number().int().nonnegative(),
  /** The beginning of the authority's last answer. */
  authority_response: z.string().nullable(),
  issuer_delivery_status: issuerDeliveryStatusSchema.nullable(),
  /** Number of sends to the issuer. */
  issuer_tries: z.number().int().nonnegative(),
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
  next: z.number().int().nullable(),
});

/** The outcome of an approval that a person found out. */
export const approvalSettlementSchema = z.object({
  id: z.number().int().positive(),
  outcome: z.enum(['accepted', 'rejected']).meta({
    description: 'accepted: the authority has it. rejected: it does not, and a new decision is possible',
  }),
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
export const approvalNameSchema = z.object({ id: z.number().int().positive() });

/** Operations of the approvals service for operators, about our approvals. */
export const UNDECIDED_APPROVAL_OPERATIONS = {
  listUndecided: {
    path: '/internal/approvals/undecided',
    callers: ['gateway'],
    request: undecidedFilterSchema,
    answer: undecidedPageSchema,
  },
  /** 404 `not_found`; 409 `conflict` if the authority decided, or nothing was to be sent. */
  settleApproval: {
    path: '/internal/approvals/settle',
    callers: ['gateway'],
    request: approvalSettlementSchema.and(actedSchema),
    answer: undecidedApprovalSchema,
  },
  /**
   * Sends it to its issuer at once, with a new deadline. 404 `not_found`. 409 `conflict` if the issuer has it, it does not
   * go there, or it is not the decision in force.
   */
  retryApproval: {
    path: '/internal/approvals/retry',
    callers: ['gateway'],
    request: approvalNameSchema.and(actedSchema),
    answer: undecidedApprovalSchema,
  },
  /** Decides whether a buyer's answer to an e-CF of the account counts. 404 `not_found`. */
  decideAnswer: {
    path: '/internal/approvals/answers/decide',
    callers: ['gateway'],
    request: answerRulingSchema.extend({
      account_id: z.string().min(1),
      answer_id: z.number().int().positive(),
      ...actedSchema.shape,
    }),
    answer: ruledAnswerSchema,
  },
} as const;
