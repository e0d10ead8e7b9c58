import { RequestParameters, sendDocument, sendObject } from '@ecf/http';
import { type Identity, identityOf } from '@ecf/http/identity';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import type { QueryAcknowledgements } from './query-acknowledgements.js';

type Handler = (req: Request, res: Response) => Promise<void>;

/** The customer's routes for acknowledgements of buyers. */
export function acknowledgementRoutes(query: QueryAcknowledgements): Record<'list' | 'one' | 'xml', Handler> {
  return {
    async list(req, res) {
      const parameters = new RequestParameters(req);
      const wanted = { issuerRnc: parameters.rnc('issuer_rnc'), ...parameters.page() };
      const status = parameters.integer('receipt_status', 0, 1, -1);
      const encf = parameters.optionalEncf('encf');
      parameters.check();
      const receiptStatus = status === -1 ? null : (status as 0 | 1);
      res.json(await query.list({ ...callerOf(req), ...wanted, encf, receiptStatus }));
    },
    async one(req, res) {
      sendObject(req, res, await query.one(oneOf(req)));
    },
    async xml(req, res) {
      sendDocument(req, res, await query.xml(oneOf(req)));
    },
  };
}

function oneOf(req: Request) {
  const parameters = new RequestParameters(req);
  const [encf, issuerRnc] = [parameters.encf(), parameters.rnc('issuer_rnc')];
  parameters.check();
  return { ...callerOf(req), issuerRnc, encf };
}

function callerOf(req: Request) {
  const identity: Identity = identityOf(req);
  return { caller: accountCaller(identity), env: identity.env };
}
