import {
  type AuthorityStatus,
  approvalStatusSchema,
  authorityStatusSchema,
  RECEIVED_COLUMNS,
  SUMS_BY_TYPE_COLUMNS,
} from '@ecf/contracts';
import { isRnc } from '@ecf/domain';
import {
  CSV_PAGE,
  callerSignal,
  findByNumber,
  ListingParameters,
  listingCursor,
  sendCsvListing,
  sendCsvRows,
  sendDocument,
  sendObject,
  wantsCsv,
} from '@ecf/http';
import { identityOf } from '@ecf/http/identity';
import { ApiError } from '@ecf/kit';
import { accountCaller } from '@ecf/taxpayer-replica';
import type { Request, Response } from 'express';
import { ReceptionError } from '../errors.js';
import type { Place, ReceivedCriteria } from './ports.js';
import type { PageQuery, QueryReceived } from './query-received.js';

const MOST_PROVIDERS = 50;

/** The parameters of the listings. */
class Parameters extends ListingParameters {
  /** `limit` 1 to 1000, default 200; `offset` from 0, default 0. */
  override page(): { limit: number; offset: number } {
    return super.page(1_000, 200);
  }

  /** Which answer of the authority the documents must have; null = any. */
  authorityStatus(): AuthorityStatus | null {
    return this.word('authority_status', authorityStatusSchema.options);
  }

  /** Which documents of the period are wanted. */
  receivedCriteria(): ReceivedCriteria {
    return {
      ...this.criteria(),
      status: this.word('status', approvalStatusSchema.options),
      providerRnc: this.optionalRnc('provider_rnc'),
    };
  }

  /** For operations where the specification demands 400 instead of 422. */
  issuerRncOr400(): string {
    const text = this.query('issuer_rnc');
    if (text !== null && isRnc(text)) return text;
    throw new ApiError(
      400,
      'invalid_issuer_rnc',
      'Send issuer_rnc, the 9 or 11 digits of the RNC that issued the invoice.',
    );
  }
}

type Handler = (req: Request, res: Response) => Promise<void>;

/** The customer's routes: each reads its parameters, runs the query, and writes the answer. */
export function listings(
  query: QueryReceived,
): Record<'fromProvider' | 'all' | 'count' | 'aggregate' | 'one' | 'document' | 'pdf' | 'acknowledgement', Handler> {
  return {
    async fromProvider(req, res) {
      const parameters = new Parameters(req);
      const providerRnc = parameters.headerRnc('provider-rnc');
      await sendPage(req, res, parameters, providerRnc, (wanted) => query.fromProvider({ ...wanted, providerRnc }));
    },
    async all(req, res) {
      await sendPage(req, res, new Parameters(req), null, (wanted) => query.all(wanted));
    },
    async count(req, res) {
      const parameters = new Parameters(req);
      const wanted = periodOf(req, parameters);
      parameters.check();
      res.json(await query.count(wanted));
    },
    async aggregate(req, res) {
      const parameters = new Parameters(req);
      const wanted = periodOf(req, parameters);
      const topProviders = parameters.integer('top_providers_limit', 1, MOST_PROVIDERS, 10);
      parameters.check();
      const sums = await query.aggregate({ ...wanted, topProviders });
      if (wantsCsv(req)) sendCsvRows(res, SUMS_BY_TYPE_COLUMNS, sums.by_type);
      else res.json(sums);
    },
    async one(req, res) {
      const wanted = partiesOf(req);
      sendObject(req, res, withExactAmounts(await byNumber(req, (encf) => query.one({ ...wanted, encf }))));
    },
    async document(req, res) {
      const wanted = partiesOf(req);
      sendObject(req, res, await byNumber(req, (encf) => query.document({ ...wanted, encf })));
    },
    async pdf(req, res) {
      const parameters = new Parameters(req);
      const format = parameters.printFormat();
      const wanted = { ...partiesOf(req, parameters), format, signal: callerSignal(res) };
      sendDocument(req, res, await byNumber(req, (encf) => query.pdf({ ...wanted, encf })), 'application/pdf');
    },
    async acknowledgement(req, res) {
      const parameters = new Parameters(req);
      const issuerRnc = parameters.issuerRncOr400();
      const buyerRnc = parameters.optionalHeaderRnc('buyer-rnc');
      parameters.check();
      const wanted = { ...caller(req), issuerRnc, buyerRnc };
      sendDocument(req, res, await byNumber(req, (encf) => query.acknowledgement({ ...wanted, encf })));
    },
  };
}

/** The caller, the buyer and the period of sums. */
function periodOf(req: Request, parameters: Parameters) {
  const buyerRnc = parameters.headerRnc('buyer-rnc');
  const days = { period: parameters.periodOf(), ...parameters.period(422) };
  return { ...caller(req), buyerRnc, ...days, authorityStatus: parameters.authorityStatus() };
}

/** Answers with a page and the cursor of the next one. */
async function sendPage(
  req: Request,
  res: Response,
  parameters: Parameters,
  providerRnc: string | null,
  find: (wanted: PageQuery) => Promise<{ next: Place | null; invoices: readonly object[] }>,
): Promise<void> {
  const sort = parameters.sort();
  const listing = {
    env: identityOf(req).env,
    buyerRnc: parameters.headerRnc('buyer-rnc'),
    period: parameters.periodOf(),
    ...parameters.period(400),
    authorityStatus: parameters.authorityStatus(),
    criteria: parameters.receivedCriteria(),
  };
  if (wantsCsv(req)) {
    parameters.allRows();
    parameters.check();
    const wanted = { ...caller(req), ...listing, sort, limit: CSV_PAGE, offset: 0 };
    const read = (place: Place | null) => find({ ...wanted, place });
    await sendCsvListing(res, RECEIVED_COLUMNS, await read(null), read);
    return;
  }
  const place = parameters.place(sort, { ...listing, providerRnc });
  const page = parameters.page();
  parameters.check();
  const { next, invoices, ...rest } = await find({ ...caller(req), ...listing, ...page, sort, place });
  const cursor = next && listingCursor(sort, { ...listing, providerRnc }).write(next);
  sendListing(res, { ...rest, next_cursor: cursor, invoices });
}

/** The caller, and the parties that the headers name. */
function partiesOf(req: Request, parameters = new Parameters(req)) {
  const buyerRnc = parameters.headerRnc('buyer-rnc');
  const providerRnc = parameters.optionalHeaderRnc('provider-rnc');
  parameters.check();
  return { ...caller(req), buyerRnc, providerRnc };
}

/** Runs a query for the eNCF of the path. */
function byNumber<T>(req: Request, find: (encf: string) => Promise<T>): Promise<T> {
  const isMissing = (error: unknown) => error instanceof ReceptionError && error.code === 'not_found';
  return findByNumber(String(req.params.encf ?? ''), ['path', 'encf'], find, isMissing);
}

function caller(req: Request) {
  const identity = identityOf(req);
  return {
    caller: accountCaller(identity),
    env: identity.env,
  };
}

function sendListing(res: Response, listing: object): void {
  res.type('json').send(withExactAmounts(listing));
}

/**
 * JSON of a listing. The interface has its amounts as numbers; written from their text they are right to the cent even where
 * a double is not. Inside of texts every quotation mark is escaped, so nothing but a field can match.
 */
function withExactAmounts(listing: object): string {
  return JSON.stringify(listing).replace(/"total_amount":"(-?\d+\.\d{2})"/g, '"total_amount":$1');
}
