import { z } from 'zod';
import {
  answerDecisionSchema,
  approvalNameSchema,
  approvalSettlementSchema,
  decidedAnswerSchema,
  undecidedApprovalSchema,
  undecidedFilterSchema,
  undecidedPageSchema,
} from '../api/admin/approvals.js';
import { actedSchema } from '../api/admin/audit.js';
import {
  deliveryFilterSchema,
  deliveryNameSchema,
  deliveryPageSchema,
  deliverySchema,
} from '../api/admin/deliveries.js';
import { deliveryChangedSchema } from '../events/delivery.js';
import { approvalChangedSchema } from '../events/received-invoice.js';
import { type InternalHandlers, internalOperation, internalPageSchema } from './operation.js';

/** Operations of approvals about the outcome of issued documents. */
export const OUTCOME_OPERATIONS = {
  /** The present state of all deliveries, by id, `limit` at a time. `next` is null at the end. */
  pageOfDeliveries: internalOperation(
    '/internal/outcomes/deliveries',
    ['query'],
    internalPageSchema,
    z.object({ deliveries: z.array(deliveryChangedSchema), next: z.int().nullable() }),
  ),
  /** The buyers' decisions about all issued documents, by id, `limit` at a time. `next` is null at the end. */
  pageOfDecisions: internalOperation(
    '/internal/outcomes/decisions',
    ['query'],
    internalPageSchema,
    z.object({ decisions: z.array(approvalChangedSchema), next: z.int().nullable() }),
  ),
} as const;
export type OutcomeOperations = InternalHandlers<typeof OUTCOME_OPERATIONS>;

/** Operations of the approvals service for operators. */
export const DELIVERY_OPERATIONS = {
  listDeliveries: internalOperation('/internal/deliveries/list', ['gateway'], deliveryFilterSchema, deliveryPageSchema),
  /**
   * Makes a delivery due immediately, with a new deadline. 404 `not_found` if there is none, 409 `conflict` if the buyer has the
   * document.
   */
  retryDelivery: internalOperation(
    '/internal/deliveries/retry',
    ['gateway'],
    deliveryNameSchema.and(actedSchema),
    deliverySchema,
  ),
  listUndecided: internalOperation(
    '/internal/approvals/undecided',
    ['gateway'],
    undecidedFilterSchema,
    undecidedPageSchema,
  ),
  /** 404 `not_found`; 409 `conflict` if the authority decided, or it was not to be sent. */
  settleApproval: internalOperation(
    '/internal/approvals/settle',
    ['gateway'],
    approvalSettlementSchema.and(actedSchema),
    undecidedApprovalSchema,
  ),
  /**
   * Sends it to its issuer immediately, with a new deadline. 404 `not_found`. 409 `conflict` if the issuer has it, it does not
   * go there, or it is not the decision in force.
   */
  retryApproval: internalOperation(
    '/internal/approvals/retry',
    ['gateway'],
    approvalNameSchema.and(actedSchema),
    undecidedApprovalSchema,
  ),
  /** Decides whether a buyer's answer to an e-CF of the account counts. 404 `not_found`. */
  decideAnswer: internalOperation(
    '/internal/approvals/answers/decide',
    ['gateway'],
    answerDecisionSchema.extend({
      account_id: z.string().min(1),
      answer_id: z.int().positive(),
      ...actedSchema.shape,
    }),
    decidedAnswerSchema,
  ),
} as const;
export type DeliveryOperations = InternalHandlers<typeof DELIVERY_OPERATIONS>;
