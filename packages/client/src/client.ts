import createFetchClient from 'openapi-fetch';
import { type BatchOptions, type Documents, type SubmittedLine, submitBatches } from './batches.js';
import { errorOf } from './errors.js';
import type { paths } from './generated/openapi.js';
import {
  type EventParameters,
  events,
  type Item,
  type Listing,
  type ParametersOf,
  paginate,
  type RawClient,
  type RequestOptions,
  unwrap,
} from './listings.js';
import { fetchWithRetries, type RetryOptions } from './retry.js';
import type { Environment, Event, Invoice, InvoiceDocument, ReceivedInvoice, Submission } from './types.js';

export interface ClientOptions extends Partial<RetryOptions> {
  /** Address of the gateway, for example `https://gateway.example`. */
  url: string;
  apiKey: string;
  /** Environment of the authority; TesteCF by default. */
  environment?: Environment;
}

export interface SubmitOptions extends RequestOptions {
  /**
   * Names this sale, 1 to 255 printable characters: the same key and document give the stored answer for 30 days, never a second invoice.
   * Without it, a new key holds for the repeats that this call makes itself. State your own, for example the id of the sale in
   * your database, so that a repeat after a restart of your program has the same key.
   */
  idempotencyKey?: string | undefined;
  /** Your own reference, which is stored with the document. */
  reference?: string | undefined;
  /** Only checks the document, without signing, storing or sending it. */
  validate?: boolean | undefined;
  /** `refuse`: a warning refuses the document before a number is used. */
  warnings?: 'refuse' | 'accept' | undefined;
  /** Signs and stores the document also while the authority is unreachable. */
  contingency?: boolean | undefined;
}

/** A period in days, `YYYY-MM-DD` or `DD-MM-YYYY`, both inclusive, in Dominican time. */
interface Period {
  start_date: string;
  end_date: string;
}
type Filters<P extends '/invoices' | '/fe/recepcion/api/invoices/all'> = Omit<
  NonNullable<paths[P]['get']['parameters']['query']>,
  'cursor' | 'offset' | 'bom'
>;
export type InvoiceFilters = Period & { issuer_rnc: string } & Filters<'/invoices'>;
export type ReceivedFilters = Period & { buyer_rnc: string } & Filters<'/fe/recepcion/api/invoices/all'>;
/** A document: its number and its issuer. */
export interface InvoiceId {
  issuer_rnc: string;
  encf: string;
}

/**
 * A client of the gateway for one API key and one environment. Every method throws `GatewayError`. A call is repeated, up to `maxRetries`
 * times, after an answer with Retry-After; and after a connection that ended without an answer, if the call is a GET or has an
 * idempotency key.
 *
 * `GET`, `POST`, `PUT`, `PATCH` and `DELETE` are those of openapi-fetch, typed for every operation; they return `{data, error, response}`,
 * of which `unwrap` makes the data or a `GatewayError`.
 */
export interface GatewayClient extends RawClient {
  /** Checks, signs, stores and sends a document. Its `status` may be `EnProceso`: the decision follows as an event. */
  submit(invoice: InvoiceDocument, options?: SubmitOptions): Promise<Submission>;

  /** The documents that a taxpayer issued. */
  readonly invoices: {
    /** All documents of a period, newest first. */
    list(filters: InvoiceFilters, options?: RequestOptions): AsyncGenerator<Invoice, void, undefined>;
    get(id: InvoiceId, options?: RequestOptions): Promise<Invoice>;
    /** The signed XML, which is the legal document. */
    xml(id: InvoiceId, options?: RequestOptions): Promise<string>;
    /** The printed form as PDF/A-3: a letter, which is the default, or a ticket of 80 mm. */
    pdf(id: InvoiceId & { format?: 'letter' | 'ticket' }, options?: RequestOptions): Promise<Uint8Array>;
  };

  /** The documents that providers sent to a taxpayer. */
  readonly received: {
    /** All documents of a period, newest first. */
    list(filters: ReceivedFilters, options?: RequestOptions): AsyncGenerator<ReceivedInvoice, void, undefined>;
  };

  readonly batches: {
    /**
     * Submits any number of documents, in batches of up to 10,000 documents and 100 MiB, one after the other. Yields the outcome of
     * each document in the order of the documents, once every document of its batch is decided or refused.
     *
     * With your own `idempotencyKey`, call it again after a restart with the same documents in the same order and the same
     * `batchSize`: batches that were stored are found, and no document is submitted twice. Without it, a new key holds for this call.
     */
    submit(documents: Documents, options?: BatchOptions): AsyncGenerator<SubmittedLine, void, undefined>;
  };

  /**
   * The events of the account as they happen, without an end; end it with `break` between events, or with a signal. Store the `id` of
   * each event when it is handled, and give the last one as `after` to continue after a restart. Once the gateway has answered, the
   * iterator continues through outages, however long. 410 `event_expired` if `after` is older than the events that are kept.
   */
  events(parameters?: EventParameters, options?: RequestOptions): AsyncGenerator<Event, never, undefined>;

  /** All items of any listing, page by page; `parameters` are those of its GET. */
  paginate<P extends Listing>(
    path: P,
    parameters: ParametersOf<P>,
    options?: RequestOptions,
  ): AsyncGenerator<Item<P>, void, undefined>;
}

export function createClient({ url, apiKey, environment, ...retries }: ClientOptions): GatewayClient {
  const { fetch = (...call) => globalThis.fetch(...call), maxRetries = 5 } = retries;
  const { timeout = 90_000, batchTimeout = 30 * 60_000 } = retries;
  const raw: RawClient = createFetchClient({
    baseUrl: url,
    headers: { 'x-api-key': apiKey, env: environment },
    // The API key does not follow to another address.
    redirect: 'manual',
    fetch: fetchWithRetries({ fetch, timeout, batchTimeout, maxRetries }),
  });

  raw.use({ onResponse: ({ response, options }) => refuseUnknown(response, options.parseAs) });

  return {
    ...raw,

    submit(invoice, options = {}) {
      const { idempotencyKey = crypto.randomUUID(), reference, validate, warnings, contingency, signal } = options;
      const query = { validate: validate ? ('true' as const) : undefined, warnings };
      const header = {
        'idempotency-key': idempotencyKey,
        'x-reference': reference,
        'x-contingency': contingency ? ('true' as const) : undefined,
      };
      return unwrap(raw.POST('/fe_Submit', { params: { query, header }, body: invoice, signal }));
    },

    invoices: {
      list({ issuer_rnc, start_date, end_date, ...query }, options) {
        const header = { 'rnc-issuing': issuer_rnc, 'start-date': day(start_date), 'end-date': day(end_date) };
        return paginate(raw, '/invoices', { header, query }, options);
      },
      get({ issuer_rnc, encf }, { signal } = {}) {
        const params = { path: { encf }, header: { 'rnc-issuing': issuer_rnc } };
        return unwrap(raw.GET('/invoices/{encf}', { params, signal }));
      },
      xml({ issuer_rnc, encf }, { signal } = {}) {
        const params = { path: { encf }, query: { issuer_rnc } };
        return unwrap(raw.GET('/{encf}/xml', { params, parseAs: 'text', signal }));
      },
      async pdf({ issuer_rnc, encf, format }, { signal } = {}) {
        const params = { path: { encf }, header: { 'rnc-issuing': issuer_rnc }, query: { format } };
        const call = raw.GET('/invoices/{encf}/pdf', { params, parseAs: 'arrayBuffer', signal });
        return new Uint8Array(await unwrap(call));
      },
    },

    received: {
      list({ buyer_rnc, start_date, end_date, ...query }, options) {
        const header = { 'buyer-rnc': buyer_rnc, 'start-date': day(start_date), 'end-date': day(end_date) };
        return paginate(raw, '/fe/recepcion/api/invoices/all', { header, query }, options);
      },
    },

    batches: { submit: (documents, options) => submitBatches(raw, documents, options) },
    events: (parameters, options) => events(raw, parameters, options),
    paginate: (path, parameters, options) => paginate(raw, path, parameters, options),
  };
}

/**
 * Refuses a success that is not an answer of an operation: a page, for example for signing in to a proxy, or a body that is not JSON
 * where JSON is expected.
 *
 * @throws GatewayError `unknown_answer`
 */
async function refuseUnknown(response: Response, parseAs: string): Promise<Response | undefined> {
  if (!response.ok || response.status === 204) return undefined;
  if (/html/.test(response.headers.get('content-type') ?? '')) throw errorOf(response, await response.text());
  if (parseAs !== 'json') return undefined;
  const text = await response.text();
  try {
    JSON.parse(text);
  } catch {
    throw errorOf(response, text);
  }
  return new Response(text, response);
}

/** `DD-MM-YYYY`, as the interface expects a day. */
function day(date: string): string {
  return /^\d{4}-/.test(date) ? date.split('-').reverse().join('-') : date;
}
