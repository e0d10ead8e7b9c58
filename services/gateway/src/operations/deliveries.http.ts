import {
  answerDecisionSchema,
  approvalNameSchema,
  approvalSettlementSchema,
  type DeliveryOperations,
  deliveryFilterSchema,
  deliveryNameSchema,
  undecidedFilterSchema,
} from '@ecf/contracts';
import { validate } from '@ecf/http';
import express, { type Request, type Response } from 'express';
import type { Acting } from '../audit/acting.http.js';
import { accountId, answerId, json } from '../edge/input.http.js';
import { otherMethods } from '../edge/other-methods.js';

/**
 * GET /admin/deliveries: deliveries to buyers, newest first, by `env`, `status`, `issuer_rnc`, `buyer_rnc`, `encf`.
 * POST /admin/deliveries/retry `{env, issuer_rnc, encf}`: retried immediately, with a new deadline.
 * GET /admin/approvals/undecided: our approvals without the authority's decision, settled (`settled=true`), or not
 * delivered to their issuer (`undelivered=true`).
 * POST /admin/approvals/settle `{id, outcome, note}`: a person's finding about one.
 * POST /admin/approvals/retry `{id}`: sent to its issuer immediately, with a new deadline.
 * POST /admin/accounts/{id}/approvals/{answerId}/decide `{counts, reason}`: whether a buyer's answer counts.
 */
export function adminDeliveries(deliveries: DeliveryOperations, acting: Acting): express.Router {
  const routes = express.Router({ caseSensitive: true });
  routes
    .route('/deliveries')
    .get(async (req: Request, res: Response) => {
      res.json(await deliveries.listDeliveries(validate(deliveryFilterSchema, req.query, 'query')));
    })
    .all(otherMethods('GET'));
  routes
    .route('/deliveries/retry')
    .post(json, async (req: Request, res: Response) => {
      const wanted = validate(deliveryNameSchema, req.body, 'body');
      res.json(await acting(req, res, (by) => deliveries.retryDelivery({ ...wanted, by })));
    })
    .all(otherMethods('POST'));
  routes
    .route('/approvals/undecided')
    .get(async (req: Request, res: Response) => {
      res.json(await deliveries.listUndecided(validate(undecidedFilterSchema, req.query, 'query')));
    })
    .all(otherMethods('GET'));
  routes
    .route('/approvals/settle')
    .post(json, async (req: Request, res: Response) => {
      const wanted = validate(approvalSettlementSchema, req.body, 'body');
      res.json(await acting(req, res, (by) => deliveries.settleApproval({ ...wanted, by })));
    })
    .all(otherMethods('POST'));
  routes
    .route('/approvals/retry')
    .post(json, async (req: Request, res: Response) => {
      const wanted = validate(approvalNameSchema, req.body, 'body');
      res.json(await acting(req, res, (by) => deliveries.retryApproval({ ...wanted, by })));
    })
    .all(otherMethods('POST'));
  routes
    .route('/accounts/:id/approvals/:answerId/decide')
    .post(json, async (req: Request, res: Response) => {
      const decision = validate(answerDecisionSchema, req.body, 'body');
      const answer = { account_id: accountId(req, res), answer_id: answerId(req) };
      res.json(await acting(req, res, (by) => deliveries.decideAnswer({ ...answer, ...decision, by })));
    })
    .all(otherMethods('POST'));
  return routes;
}
