import {
  DEFAULT_EVENT_PAGE,
  INVOICE_COLUMNS,
  MAX_EVENT_PAGE,
  MAX_EVENT_WAIT_SECONDS,
  SCOPES,
  SUMS_BY_TYPE_COLUMNS,
} from '@ecf/contracts';
import {
  CSV_PAGE,
  callerSignal,
  findByNumber,
  isStopping,
  listingCursor,
  sendCsvListing,
  sendCsvRows,
  sendDocument,
  sendObject,
  wantsCsv,
} from '@ecf/http';
import { type Identity, identityOf } from '@ecf/http/identity';
import { qrPng, qrSvg } from '@ecf/printed-form';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import type { Directory } from './authority/directory.js';
import type { createMonitoring } from './authority/monitoring.js';
import { QueryError } from './errors.js';
import type { LongPolls } from './feed/long-polls.http.js';
import type { createReadFeed } from './feed/read-feed.js';
import type { ConsumptionQuery } from './invoices/consumption-invoice.js';
import type { FoundXml, XmlQuery } from './invoices/document-xml.js';
import type { createInvoiceDocument, createInvoicePdf } from './invoices/invoice-document.js';
import type { Place } from './invoices/ports.js';
import type { QueryInvoices } from './invoices/query-invoices.js';
import { Parameters } from './parameters.http.js';

/** The use cases of customers. */
export interface CustomerParts {
  readonly lagMs: () => number;
  readonly invoices: QueryInvoices;
  readonly documentXml: (query: XmlQuery) => Promise<FoundXml>;
  readonly invoiceDocument: ReturnType<typeof createInvoiceDocument>;
  readonly invoicePdf: ReturnType<typeof createInvoicePdf>;
  readonly consumption: (query: ConsumptionQuery) => Promise<object>;
  readonly readFeed: ReturnType<typeof createReadFeed>;
  readonly longPolls: LongPolls;
  readonly directory: Directory;
  readonly monitoring: ReturnType<typeof createMonitoring>;
}

const MOST_CLIENTS = 50;

/** The customers' routes: each reads its parameters, calls the use case, and gives the answer. */
export function customerHandlers(parts: CustomerParts) {
  const {
    lagMs,
    invoices,
    documentXml,
    invoiceDocument,
    invoicePdf,
    consumption,
    readFeed,
    longPolls,
    directory,
    monitoring,
  } = parts;
  const number = (parameters: Parameters) => ({
    issuerRnc: parameters.issuerHeader(),
    encf: parameters.encf(),
    run: parameters.run(),
  });
  /** States how far the read models are behind. */
  const fromReadModels: typeof answering = (read, send = sendJson) =>
    answering(read, (req, res, found) => {
      res.setHeader('x-read-model-lag-ms', String(lagMs()));
      send(req, res, found);
    });

  const qrCode = (type: string, draw: (address: string) => Buffer) =>
    fromReadModels((parameters) => {
      const request = number(parameters);
      return async (caller) => draw((await invoices.one({ ...caller, ...request })).qr_url);
    }, sendAs(type));

  return {
    list: listing(invoices, lagMs, fromReadModels),
    count: fromReadModels((parameters) => {
      const request = filter(parameters);
      return (caller) => invoices.count({ ...caller, ...request });
    }),
    aggregate: fromReadModels((parameters) => {
      const topClients = parameters.integer('top_clients_limit', 1, MOST_CLIENTS, 10);
      const request = filter(parameters);
      return (caller) => invoices.aggregate({ ...caller, ...request, topClients });
    }, sendSums),
    one: fromReadModels((parameters) => {
      const request = number(parameters);
      return (caller) => invoices.one({ ...caller, ...request });
    }, sendObject),
    document: fromReadModels((parameters) => {
      const request = number(parameters);
      return (caller) => invoiceDocument({ ...caller, ...request });
    }, sendObject),
    pdf: fromReadModels((parameters) => {
      const request = { ...number(parameters), format: parameters.printFormat() };
      return (caller, _isOver, signal) => invoicePdf({ ...caller, ...request, signal });
    }, sendAs('application/pdf')),
    qrSvg: qrCode('image/svg+xml', (address) => Buffer.from(qrSvg(address))),
    qrPng: qrCode('image/png', (address) => Buffer.from(qrPng(address))),
    trackIds: fromReadModels((parameters) => {
      const request = number(parameters);
      return (caller) => invoices.trackIds({ ...caller, ...request });
    }),
    rawAnswers: fromReadModels((parameters) => {
      const request = number(parameters);
      return (caller) => invoices.rawAnswers({ ...caller, ...request });
    }),
    consumption: answering((parameters) => {
      const request = {
        issuerRnc: parameters.rnc('rnc_issuing'),
        encf: parameters.consumerEncf(),
        securityCode: parameters.securityCode(),
        buyerRnc: parameters.optionalRnc('rnc_buyer'),
      };
      return (caller) => consumption({ ...caller, ...request });
    }),
    events: answering((parameters) => {
      const request = {
        after: parameters.after(),
        newest: parameters.flag('newest', false),
        types: parameters.eventTypes(),
        limit: parameters.integer('limit', 1, MAX_EVENT_PAGE, DEFAULT_EVENT_PAGE),
        wait: parameters.integer('wait', 0, MAX_EVENT_WAIT_SECONDS, 0),
      };
      return (caller, isOver) => {
        const read = () => readFeed({ ...caller, ...request, isOver });
        return request.wait > 0 ? longPolls.run(caller.caller, read) : read();
      };
    }),
    directory: answering(() => (caller) => directory.all(caller)),
    directoryEntry: answering((parameters) => {
      const rnc = parameters.pathRnc();
      return (caller) => directory.one({ ...caller, rnc });
    }, sendObject),
    monitoring: answering(
      () =>
        ({ env }) =>
          monitoring(env),
    ),
    async xml(req: Request, res: Response): Promise<void> {
      const parameters = new Parameters(req);
      const request = {
        issuerRnc: parameters.optionalRnc('issuer_rnc'),
        buyerRnc: parameters.optionalHeaderRnc('buyer-rnc'),
        document: parameters.document(),
        sha256: parameters.optionalSha256(),
        run: parameters.run(),
        may: mayRead(identityOf(req)),
      };
      parameters.check();
      const find = async (encf: string) => ({ encf, ...(await documentXml({ ...callerOf(req), ...request, encf })) });
      const isMissing = (error: unknown) => error instanceof QueryError && error.code === 'not_found';
      const { encf, issuerRnc, bytes } = await findByNumber(
        String(req.params.encf ?? ''),
        ['path', 'encf'],
        find,
        isMissing,
      );
      res.setHeader('content-disposition', `inline; filename="${issuerRnc}${encf}.xml"`);
      sendDocument(req, res, bytes);
    },
  };
}

/** `/invoices/`: a page in JSON, or all rows in CSV. */
function listing(invoices: QueryInvoices, lagMs: () => number, fromReadModels: typeof answering) {
  const listCsv = async (req: Request, res: Response): Promise<void> => {
    const parameters = new Parameters(req);
    const wanted = { ...filter(parameters), criteria: parameters.invoiceCriteria(), sort: parameters.sort() };
    parameters.allRows();
    parameters.check();
    const of = { ...callerOf(req), ...wanted, limit: CSV_PAGE, offset: 0 };
    const read = (place: Place | null) => invoices.list({ ...of, place });
    const first = await read(null);
    res.setHeader('x-read-model-lag-ms', String(lagMs()));
    await sendCsvListing(res, INVOICE_COLUMNS, first, read);
  };
  const listJson = fromReadModels((parameters, env) => {
    const sort = parameters.sort();
    const listing = { ...filter(parameters), criteria: parameters.invoiceCriteria() };
    const place = parameters.place(sort, { env, ...listing });
    const request = { ...listing, sort, place, ...parameters.page() };
    const cursor = listingCursor(sort, { env, ...listing });
    return async (caller) => {
      const { next, invoices: rows, ...page } = await invoices.list({ ...caller, ...request });
      return { ...page, next_cursor: next && cursor.write(next), invoices: rows };
    };
  });
  return (req: Request, res: Response): Promise<void> => (wantsCsv(req) ? listCsv(req, res) : listJson(req, res));
}

function filter(parameters: Parameters) {
  return { issuerRnc: parameters.issuerHeader(), period: parameters.periodOf(), ...parameters.period() };
}

type Caller = ReturnType<typeof callerOf>;

/** Reads and checks all parameters before the use case runs. */
function answering<Found extends object | string>(
  read: (
    parameters: Parameters,
    env: Caller['env'],
  ) => (caller: Caller, isOver: () => boolean, signal: AbortSignal) => Promise<Found>,
  send: (req: Request, res: Response, found: Found) => void = sendJson,
) {
  return async (req: Request, res: Response): Promise<void> => {
    const parameters = new Parameters(req);
    const run = read(parameters, identityOf(req).env);
    parameters.check();
    const isOver = () => res.destroyed || isStopping(req);
    send(req, res, await run(callerOf(req), isOver, callerSignal(res)));
  };
}

const sendAs = (type: string) => (req: Request, res: Response, bytes: Buffer) => sendDocument(req, res, bytes, type);

function sendSums(req: Request, res: Response, found: object & { by_type?: readonly object[] }): void {
  if (wantsCsv(req)) sendCsvRows(res, SUMS_BY_TYPE_COLUMNS, found.by_type ?? []);
  else sendJson(req, res, found);
}

function sendJson(_req: Request, res: Response, found: object | string): void {
  res.setHeader('content-type', 'application/json; charset=utf-8');
  res.setHeader('cache-control', 'no-store');
  res.end(JSON.stringify(found));
}

/** The XML of received documents belongs to the scope `receive`, that of issued ones to `read` and `submit`. */
function mayRead({ scopes = SCOPES }: Pick<Identity, 'scopes'>) {
  return { issued: scopes.includes('read') || scopes.includes('submit'), received: scopes.includes('receive') };
}

function callerOf(req: Request) {
  const identity = identityOf(req);
  return {
    caller: accountCaller(identity),
    env: identity.env,
  };
}
