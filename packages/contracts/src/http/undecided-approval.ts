import { z } from 'zod';
import { encfSchema, environmentSchema, freeTextSchema, rncSchema, timestampSchema } from '../environment.js';
import { authoritySubmissionStatusSchema } from './approval.js';

/** A commercial approval of ours that the authority has not decided about, or that a person settled. */
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
  submitted_at: timestampSchema,
  settled_at: timestampSchema.nullable(),
  note: z.string().nullable(),
});

/** Which to list: undecided ones, or those that a person settled. */
export const undecidedFilterSchema = z.object({
  env: environmentSchema.optional(),
  issuer_rnc: rncSchema.optional(),
  settled: z.enum(['true', 'false']).default('false'),
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
} as const;
