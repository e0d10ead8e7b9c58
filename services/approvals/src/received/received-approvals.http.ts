import { performance } from 'node:perf_hooks';
import type { ReceptionOperations } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import { type BodyLimits, RequestParameters, requestIdOf, sendObject } from '@ecf/http';
import { identityOf } from '@ecf/http/identity';
import { type FreeSpaceGuard, publicCaller, quotaSender, readXmlDocument } from '@ecf/public-ingress';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import { refusalKind } from '../errors.http.js';
import { ApprovalsError } from '../errors.js';
import type { ApprovalReport } from '../metrics.js';
import type { QueryReceivedApprovals } from './query-received.js';
import type { ReceiveApproval } from './receive-approval.js';

export interface ApprovalIngressParts {
  readonly receive: ReceiveApproval;
  readonly bodyLimits: BodyLimits;
  readonly freeSpace: Pick<FreeSpaceGuard, 'require'>;
  /** Reception issues the tokens and has their keys. */
  readonly reception: Pick<ReceptionOperations, 'verifyProviderToken'>;
  /** False where tokens are ignored, the default. */
  readonly requireTokens: boolean;
  readonly report: ApprovalReport;
  readonly clock: () => Date;
}

/** `POST /fe/aprobacioncomercial/api/ecf`: receives an approval; 200 where it is accepted, 400 where it is refused. */
export function receiveApproval(parts: ApprovalIngressParts) {
  return async (req: Request, res: Response): Promise<void> => {
    const started = performance.now();
    const arrivedAt = parts.clock();
    const caller = publicCaller(req);
    const { env, sender, call } = caller;
    try {
      parts.freeSpace.require();
      const holder = parts.requireTokens ? await requireToken(parts, req, env) : null;
      const bytes = await readXmlDocument(req, parts.bodyLimits);
      const origin = { requestId: requestIdOf(req), sender, quotaSender: quotaSender(caller, holder) };
      const outcome = await parts.receive({ bytes, env, arrivedAt, ...origin });
      parts.report.answered(outcome, call, performance.now() - started);
      res.status(outcome.refusal === null ? 200 : 400);
      res.setHeader('cache-control', 'no-store');
      res.json(outcome.receipt);
    } catch (error) {
      parts.report.refused(refusalKind(error), call);
      // The limit on the body may have answered already.
      if (!res.headersSent) throw error;
    }
  };
}

/** The holder that the sender's token proves. */
async function requireToken(parts: ApprovalIngressParts, req: Request, env: Environment): Promise<string> {
  const authorization = req.headers.authorization ?? null;
  const { holder } = await parts.reception.verifyProviderToken({ env, authorization });
  if (holder !== null) return holder;
  throw new ApprovalsError(
    'invalid_provider_token',
    'This receiver requires a Bearer token; get one from its seed and validation services.',
  );
}

/** The customer's routes for what buyers decided about its e-CF. */
export function receivedApprovalRoutes(query: QueryReceivedApprovals) {
  return {
    async decision(req: Request, res: Response): Promise<void> {
      sendObject(req, res, await query.decision(issuedOf(req)));
    },
    async answers(req: Request, res: Response): Promise<void> {
      res.json(await query.answers(issuedOf(req)));
    },
  };
}

/** The e-CF that a route names. */
function issuedOf(req: Request) {
  const parameters = new RequestParameters(req);
  const [encf, issuerRnc] = [parameters.encf(), parameters.rnc('issuer_rnc')];
  parameters.check();
  const identity = identityOf(req);
  return { caller: accountCaller(identity), env: identity.env, issuerRnc, encf };
}
