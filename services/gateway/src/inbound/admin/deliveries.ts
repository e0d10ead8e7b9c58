import {
  answerRulingSchema,
  approvalNameSchema,
  approvalSettlementSchema,
  type DeliveryOperations,
  deliveryFilterSchema,
  deliveryNameSchema,
  undecidedFilterSchema,
} from '@ecf/contracts';
import { validate } from '@ecf/service-kit/http';
import express, { type Request, type Response } from 'express';
import { otherMethods } from '../own-routes.js';
import { accountId, answerId, json, type RecordAct } from './input.js';

/**
 * GET /admin/deliveries: deliveries to buyers, newest first, by `env`, `status`, `issuer_rnc`, `buyer_rnc`, `encf`.
 * POST /admin/deliveries/retry `{env, issuer_rnc, encf}`: retried at once, with a new deadline.
 * GET /admin/approvals/undecided: our approvals without the authority's decision, settled (`settled=true`), or not
 * delivered to their issuer (`undelivered=true`).
 * POST /admin/approvals/settle `{id, outcome, note}`: a person's finding about one.
 * POST /admin/approvals/retry `{id}`: sent to its issuer at once, with a new deadline.
 * POST /admin/accounts/{id}/approvals/{answerId}/decide `{counts, reason}`: whether a buyer's answer counts.
 */
export function adminDeliveries(deliveries: DeliveryOperations, record: RecordAct): express.Router {
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
      const name = validate(deliveryNameSchema, req.body, 'body');
      const delivery = await deliveries.retryDelivery(name);
      await record(req, res, {
        action: 'delivery.retry',
        target: `/deliveries/${name.env}/${name.issuer_rnc}/${name.encf}`,
        details: {},
      });
      res.json(delivery);
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
      const { id, ...details } = validate(approvalSettlementSchema, req.body, 'body');
      const settled = await deliveries.settleApproval({ id, ...details });
      await record(req, res, { action: 'approval.settle', target: `/approvals/${id}`, details });
      res.json(settled);
    })
    .all(otherMethods('POST'));
  routes
    .route('/approvals/retry')
    .post(json, async (req: Request, res: Response) => {
      const { id } = validate(approvalNameSchema, req.body, 'body');
      const retried = await deliveries.retryApproval({ id });
      await record(req, res, { action: 'approval.retry', target: `/approvals/${id}`, details: {} });
      res.json(retried);
    })
    .all(otherMethods('POST'));
  routes
    .route('/accounts/:id/approvals/:answerId/decide')
    .post(json, async (req: Request, res: Response) => {
      const ruling = validate(answerRulingSchema, req.body, 'body');
      const [account, id] = [accountId(req), answerId(req)];
      const answer = await deliveries.decideAnswer({ account_id: account, answer_id: id, ...ruling });
      await record(req, res, {
        action: 'approval.decide',
        target: `/accounts/${account}/approvals/${id}`,
        details: ruling,
      });
      res.json(answer);
    })
    .all(otherMethods('POST'));
  return routes;
}
