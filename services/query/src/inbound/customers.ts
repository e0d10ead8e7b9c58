import { findByNumber } from '@ecf/service-kit/http';
import { identityOf } from '@ecf/service-kit/security';
import type { Request, Response } from 'express';
import type { Directory } from '../core/authority/directory.js';
import type { createMonitoring } from '../core/authority/monitoring.js';
import { QueryError } from '../core/errors.js';
import type { ConsumptionQuery } from '../core/invoices/consumption-invoice.js';
import type { FoundXml, XmlQuery } from '../core/invoices/document-xml.js';
import type { QueryInvoices } from '../core/invoices/query-invoices.js';
import { Parameters } from './parameters.js';

/** What customers may ask. */
export interface CustomerParts {
  readonly invoices: QueryInvoices;
  readonly documentXml: (query: XmlQuery) => Promise<FoundXml>;
  readonly consumption: (query: ConsumptionQuery) => Promise<unknown>;
  readonly directory: Directory;
  readonly monitoring: ReturnType<typeof createMonitoring>;
}

const MOST_CLIENTS = 50;

/** The customers' routes: each reads its parameters, asks, and gives the answer. */
export function customerHandlers({ invoices, documentXml, consumption, directory, monitoring }: CustomerParts) {
  const filter = (parameters: Parameters) => ({ issuerRnc: parameters.issuerHeader(), ...parameters.period() });
  const number = (parameters: Parameters) => ({ issuerRnc: parameters.issuerHeader(), encf: parameters.encf() });

  return {
    list: answering((parameters) => {
      const asked = { ...filter(parameters), ...parameters.page() };
      return (who) => invoices.list({ ...who, ...asked });
    }),
    count: answering((parameters) => {
      const asked = filter(parameters);
      return (who) => invoices.count({ ...who, ...asked });
    }),
    aggregate: answering((parameters) => {
      const topClients = parameters.integer('top_clients_limit', 1, MOST_CLIENTS, 10);
      const asked = filter(parameters);
      return (who) => invoices.aggregate({ ...who, ...asked, topClients });
    }),
    one: answering((parameters) => {
      const asked = number(parameters);
      return (who) => invoices.one({ ...who, ...asked });
    }),
    trackIds: answering((parameters) => {
      const asked = number(parameters);
      return (who) => invoices.trackIds({ ...who, ...asked });
    }),
    rawAnswers: answering((parameters) => {
      const asked = number(parameters);
      return (who) => invoices.rawAnswers({ ...who, ...asked });
    }),
    consumption: answering((parameters) => {
      const asked = {
        issuerRnc: parameters.rnc('rnc_issuing'),
        encf: parameters.consumerEncf(),
        securityCode: parameters.securityCode(),
        buyerRnc: parameters.optionalRnc('rnc_buyer'),
      };
      return (who) => consumption({ ...who, ...asked });
    }),
    directory: answering(() => (who) => directory.all(who)),
    directoryEntry: answering((parameters) => {
      const rnc = parameters.pathRnc();
      return (who) => directory.one({ ...who, rnc });
    }),
    monitoring: answering(
      () =>
        ({ env }) =>
          monitoring(env),
    ),
    async xml(req: Request, res: Response): Promise<void> {
      const parameters = new Parameters(req);
      const asked = {
        issuerRnc: parameters.optionalRnc('issuer_rnc'),
        buyerRnc: parameters.optionalHeaderRnc('buyer-rnc'),
        document: parameters.document(),
        sha256: parameters.optionalSha256(),
      };
      parameters.check();
      const find = async (encf: string) => ({ encf, ...(await documentXml({ ...whoAsks(req), ...asked, encf })) });
      const isMissing = (error: unknown) => error instanceof QueryError && error.code === 'not_found';
      const { encf, issuerRnc, bytes } = await findByNumber(
        String(req.params.encf ?? ''),
        ['path', 'encf'],
        find,
        isMissing,
      );
      res.setHeader('content-type', 'application/xml; charset=utf-8');
      res.setHeader('content-disposition', `inline; filename="${issuerRnc}${encf}.xml"`);
      res.setHeader('x-content-type-options', 'nosniff');
      res.end(bytes);
    },
  };
}

type Who = ReturnType<typeof whoAsks>;

/** Parameters are read and judged all together, before anything is asked. */
function answering(read: (parameters: Parameters) => (who: Who) => Promise<unknown>) {
  return async (req: Request, res: Response): Promise<void> => {
    const parameters = new Parameters(req);
    const ask = read(parameters);
    parameters.check();
    const body = JSON.stringify(await ask(whoAsks(req)));
    res.setHeader('content-type', 'application/json; charset=utf-8');
    res.setHeader('cache-control', 'no-store');
    res.end(body);
  };
}

function whoAsks(req: Request) {
  const identity = identityOf(req);
  return {
    caller: { accountId: identity.account_id, taxpayersRevision: identity.taxpayers_revision },
    env: identity.env,
  };
}
