import { z } from 'zod';
import { encfSchema, environmentSchema, freeTextSchema, rncSchema, timestampSchema } from '../../environment.js';
import { authoritySubmissionStatusSchema, issuerDeliveryStatusSchema } from '../approval.js';

/** A commercial approval of ours as those who operate the deployment see it. */
export const undecidedApprovalSchema = z.object({
  id: z.number().int().positive(),
  env: environmentSchema,
  issuer_rnc: rncSchema,
  receiver_rnc: rncSchema,
  encf: encfSchema,
  account_id: z.string(),
  /** Estado: 1 approved, 2 rejected. */
  approval_status: z.union([z.literal(1), z.literal(2)]),
  authority_submission_status: authoritySubmissionStatusSchema.nullable(),
  /** Sends to the authority begun. */
  tries: z.number().int().nonnegative(),
  /** The authority's last answer, its beginning. */
  authority_response: z.string().nullable(),
  issuer_delivery_status: issuerDeliveryStatusSchema.nullable(),
  /** Sends to the issuer begun. */
  issuer_tries: z.number().int().nonnegative(),
  issuer_delivery_error: z.string().nullable(),
  submitted_at: timestampSchema,
  settled_at: timestampSchema.nullable(),
  note: z.string().nullable(),
});

/** Which to list: undecided ones, those that a person settled, or those that did not come to their issuer. */
export const undecidedFilterSchema = z.object({
  env: environmentSchema.optional(),
  issuer_rnc: rncSchema.optional(),
  settled: z.enum(['true', 'false']).default('false'),
  /** Where it is true, those that have no receiver, were refused there, or failed; `settled` does not count then. */
  undelivered: z.enum(['true', 'false']).default('false'),
  limit: z.coerce.number().int().min(1).max(100).default(100),
  /** Where to go on; the answer's `next`. */
  after: z.coerce.number().int().nonnegative().default(0),
});

/** In the order of their ids; `next` is null at the end. */
export const undecidedPageSchema = z.object({
  approvals: z.array(undecidedApprovalSchema),
  next: z.number().int().nullable(),
});

/** What a person found out about an approval that the authority does not decide about here. */
export const approvalSettlementSchema = z.object({
  id: z.number().int().positive(),
  /** `accepted`: the authority has it. `rejected`: it does not, and a new decision may be taken. */
  outcome: z.enum(['accepted', 'rejected']),
  /** Why, in the person's words; kept. */
  note: freeTextSchema.trim().min(1).max(1_000),
});

/** Names an approval. */
export const approvalNameSchema = z.object({ id: z.number().int().positive() });

/** What the approvals service answers to those who operate it, about approvals of ours. */
export const UNDECIDED_APPROVAL_OPERATIONS = {
  listUndecided: {
    path: '/internal/approvals/undecided',
    request: undecidedFilterSchema,
    answer: undecidedPageSchema,
  },
  /** 404 `not_found`; 409 `conflict` where the authority decided, or nothing was to be sent. */
  settleApproval: {
    path: '/internal/approvals/settle',
    request: approvalSettlementSchema,
    answer: undecidedApprovalSchema,
  },
  /**
   * Sends it to its issuer at once, with a new deadline. 404 `not_found`; 409 `conflict` where the issuer has it, it does not
   * go there, or it does not stand (any more).
   */
  retryApproval: {
    path: '/internal/approvals/retry',
    request: approvalNameSchema,
    answer: undecidedApprovalSchema,
  },
} as const;
