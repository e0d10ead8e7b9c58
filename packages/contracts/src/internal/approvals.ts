import { z } from 'zod';
import {
  answerRulingSchema,
  approvalNameSchema,
  approvalSettlementSchema,
  ruledAnswerSchema,
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
import type { InternalHandlers } from './internal.js';

/** Operations of the approvals service for operators. */
export const DELIVERY_OPERATIONS = {
  listDeliveries: {
    path: '/internal/deliveries/list',
    callers: ['gateway'],
    request: deliveryFilterSchema,
    answer: deliveryPageSchema,
  },
  /**
   * Makes a delivery due immediately, with a new deadline. 404 `not_found` if there is none, 409 `conflict` if the buyer has the
   * document.
   */
  retryDelivery: {
    path: '/internal/deliveries/retry',
    callers: ['gateway'],
    request: deliveryNameSchema.and(actedSchema),
    answer: deliverySchema,
  },
  listUndecided: {
    path: '/internal/approvals/undecided',
    callers: ['gateway'],
    request: undecidedFilterSchema,
    answer: undecidedPageSchema,
  },
  /** 404 `not_found`; 409 `conflict` if the authority decided, or it was not to be sent. */
  settleApproval: {
    path: '/internal/approvals/settle',
    callers: ['gateway'],
    request: approvalSettlementSchema.and(actedSchema),
    answer: undecidedApprovalSchema,
  },
  /**
   * Sends it to its issuer immediately, with a new deadline. 404 `not_found`. 409 `conflict` if the issuer has it, it does not
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
      answer_id: z.int().positive(),
      ...actedSchema.shape,
    }),
    answer: ruledAnswerSchema,
  },
} as const;

export type DeliveryOperations = InternalHandlers<typeof DELIVERY_OPERATIONS>;
