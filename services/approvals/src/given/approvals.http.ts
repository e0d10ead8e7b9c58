import { approvalRequestSchema } from '@ecf/contracts';
import { RequestParameters, sendDocument, sendObject, validate } from '@ecf/http';
import { effectiveEnvironment, identityOf } from '@ecf/http/identity';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import type { GiveApproval } from './give-approval.js';
import { publicApproval } from './given-approval.js';
import type { QueryApprovals } from './query-approvals.js';

type Handler = (req: Request, res: Response) => Promise<void>;

/** The customer's routes for approvals that its taxpayers give. */
export function givenApprovalRoutes(
  give: GiveApproval,
  query: QueryApprovals,
): Record<'create' | 'list' | 'one' | 'xml', Handler> {
  return {
    async create(req, res) {
      const parameters = new RequestParameters(req);
      const submit = parameters.flag('submit_to_authority', true);
      parameters.check();
      const request = validate(approvalRequestSchema, req.body ?? {}, 'body');
      const identity = identityOf(req);
      const env = effectiveEnvironment(identity, request.authority_environment);
      res.status(201).json(publicApproval(await give({ caller: accountCaller(identity), env, request, submit })));
    },
    async list(req, res) {
      const parameters = new RequestParameters(req);
      const wanted = {
        buyerRnc: parameters.rnc('receiver_rnc'),
        issuerRnc: parameters.optionalRnc('issuer_rnc'),
        encf: parameters.optionalEncf('encf'),
        open: parameters.flag('open', false),
        ...parameters.page(),
      };
      parameters.check();
      const identity = identityOf(req);
      res.json(await query.list({ caller: accountCaller(identity), env: identity.env, ...wanted }));
    },
    async one(req, res) {
      sendObject(req, res, await query.one(oneOf(req)));
    },
    async xml(req, res) {
      sendDocument(req, res, await query.xml(oneOf(req)));
    },
  };
}

/** Ids are unique in the deployment. Without the header `env`, every environment of the key is searched. */
function oneOf(req: Request) {
  const parameters = new RequestParameters(req);
  const id = parameters.id('approval_id');
  parameters.check();
  const identity = identityOf(req);
  return {
    caller: accountCaller(identity),
    environments: identity.env_given ? [identity.env] : identity.environments,
    id,
  };
}
