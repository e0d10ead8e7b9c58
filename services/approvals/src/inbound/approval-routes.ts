import { approvalRequestSchema } from '@ecf/contracts';
import { RequestParameters, validate } from '@ecf/service-kit/http';
import { effectiveEnvironment, type Identity, identityOf } from '@ecf/service-kit/security';
import type { Request, Response } from 'express';
import type { GiveApproval } from '../core/given/give-approval.js';
import { publicApproval } from '../core/given/given-approval.js';
import type { QueryApprovals } from '../core/received/query-approvals.js';

type Handler = (req: Request, res: Response) => Promise<void>;

export interface ApprovalRouteParts {
  readonly give: Pick<GiveApproval, 'give'>;
  readonly query: QueryApprovals;
}

/** The customer's routes about approvals: each reads its parameters, asks, and writes the answer. */
export function approvalRoutes({
  give,
  query,
}: ApprovalRouteParts): Record<'create' | 'list' | 'one' | 'xml' | 'received', Handler> {
  return {
    async create(req, res) {
      const parameters = new RequestParameters(req);
      const submit = parameters.flag('submit_to_authority', true);
      parameters.check();
      const request = validate(approvalRequestSchema, req.body ?? {}, 'body');
      const identity = identityOf(req);
      const env = effectiveEnvironment(identity, request.authority_environment);
      res.status(201).json(publicApproval(await give.give({ asker: askerOf(identity), env, request, submit })));
    },
    async list(req, res) {
      const parameters = new RequestParameters(req);
      const asked = { receiverRnc: parameters.rnc('receiver_rnc'), ...parameters.page() };
      parameters.check();
      const identity = identityOf(req);
      res.json(await query.list({ asker: askerOf(identity), env: identity.env, ...asked }));
    },
    async one(req, res) {
      res.json(await query.one(asked(req)));
    },
    async xml(req, res) {
      const bytes = await query.xml(asked(req));
      res.setHeader('content-type', 'application/xml; charset=utf-8');
      res.setHeader('x-content-type-options', 'nosniff');
      res.end(bytes);
    },
    async received(req, res) {
      const parameters = new RequestParameters(req);
      const [encf, issuerRnc] = [parameters.encf(), parameters.rnc('issuer_rnc')];
      parameters.check();
      const identity = identityOf(req);
      res.json(await query.received({ asker: askerOf(identity), env: identity.env, issuerRnc, encf }));
    },
  };
}

/** Ids are unique in the deployment: without the header env any environment of the key may hold it. */
function asked(req: Request) {
  const parameters = new RequestParameters(req);
  const id = parameters.id('approval_id');
  parameters.check();
  const identity = identityOf(req);
  return { asker: askerOf(identity), environments: identity.env_given ? [identity.env] : identity.environments, id };
}

function askerOf(identity: Identity) {
  return { accountId: identity.account_id, taxpayersRevision: identity.taxpayers_revision };
}
