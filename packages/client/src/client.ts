import createFetchClient from 'openapi-fetch';
import { type BatchOptions, type SubmittedLine, submitBatches } from './batches.js';
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
import type { BatchDocument, Environment, Invoice, InvoiceDocument, ReceivedInvoice, Submission } from './types.js';

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
export type GatewayClient = ReturnType<typeof createClient>;

export function createClient({ url, apiKey, environment, ...retries }: ClientOptions) {
  const { fetch = (...call) => globalThis.fetch(...call), timeout = 90_000, maxRetries = 5 } = retries;
  const raw: RawClient = createFetchClient({
    baseUrl: url,
    headers: { 'x-api-key': apiKey, env: environment },
    // The API key does not follow to another address.
    redirect: 'manual',
    fetch: fetchWithRetries({ fetch, timeout, maxRetries }),
  });

  return {
    ...raw,

    /** Checks, signs, stores and sends a document. Its `status` may be `EnProceso`: the decision follows as an event. */
    async submit(invoice: InvoiceDocument, options: SubmitOptions = {}): Promise<Submission> {
      const { idempotencyKey = crypto.randomUUID(), reference, validate, warnings, contingency, signal } = options;
      const call = raw.POST('/fe_Submit', {
        params: {
          query: { validate: validate ? 'true' : undefined, warnings },
          header: {
            'idempotency-key': idempotencyKey,
            'x-reference': reference,
            'x-contingency': contingency ? 'true' : undefined,
          },
        },
        body: invoice,
        signal,
      });
      return unwrap(call);
    },

    /** The documents that a taxpayer issued. */
    invoices: {
      /** All documents of a period, newest first. */
      list(filters: InvoiceFilters, options?: RequestOptions): AsyncGenerator<Invoice, void, undefined> {
        const { issuer_rnc, start_date, end_date, ...query } = filters;
        const header = { 'rnc-issuing': issuer_rnc, 'start-date': day(start_date), 'end-date': day(end_date) };
        return paginate(raw, '/invoices', { header, query }, options);
      },
      get({ issuer_rnc, encf }: InvoiceId, { signal }: RequestOptions = {}): Promise<Invoice> {
        const params = { path: { encf }, header: { 'rnc-issuing': issuer_rnc } };
        return unwrap(raw.GET('/invoices/{encf}', { params, signal }));
      },
      /** The signed XML, which is the legal document. */
      xml({ issuer_rnc, encf }: InvoiceId, { signal }: RequestOptions = {}): Promise<string> {
        const params = { path: { encf }, query: { issuer_rnc } };
        return unwrap(raw.GET('/{encf}/xml', { params, parseAs: 'text', signal }));
      },
      /** The printed form, as letter or ticket of 80 mm. */
      async pdf(
        { issuer_rnc, encf, format }: InvoiceId & { format?: 'letter' | 'ticket' },
        { signal }: RequestOptions = {},
      ): Promise<Uint8Array> {
        const params = { path: { encf }, header: { 'rnc-issuing': issuer_rnc }, query: { format } };
        return new Uint8Array(
          await unwrap(raw.GET('/invoices/{encf}/pdf', { params, parseAs: 'arrayBuffer', signal })),
        );
      },
    },

    /** The documents that providers sent to a taxpayer. */
    received: {
      /** All documents of a period, newest first. */
      list(filters: ReceivedFilters, options?: RequestOptions): AsyncGenerator<ReceivedInvoice, void, undefined> {
        const { buyer_rnc, start_date, end_date, ...query } = filters;
        const header = { 'buyer-rnc': buyer_rnc, 'start-date': day(start_date), 'end-date': day(end_date) };
        return paginate(raw, '/fe/recepcion/api/invoices/all', { header, query }, options);
      },
    },

    batches: {
      /**
       * Submits any number of documents, in batches of up to 10,000 documents and 100 MiB, one after the other. Yields the outcome of
       * each document in the order of the documents, once every document of its batch is decided or refused.
       *
       * With your own `idempotencyKey`, call it again after a restart with the same documents in the same order and the same
       * `batchSize`: batches that were stored are found, and no document is submitted twice. Without it, a new key holds for this call.
       */
      submit(
        documents: AsyncIterable<InvoiceDocument | BatchDocument> | Iterable<InvoiceDocument | BatchDocument>,
        options?: BatchOptions,
      ): AsyncGenerator<SubmittedLine, void, undefined> {
        return submitBatches(raw, documents, options);
      },
    },

    /**
     * The events of the account as they happen, without an end; end it with `break` between events, or with a signal. Store the `id` of
     * each event when it is handled, and give the last one as `after` to continue after a restart. Once the gateway has answered, the
     * iterator continues through outages, however long. 410 `event_expired` if `after` is older than the events that are kept.
     */
    events: (parameters?: EventParameters, options?: RequestOptions) => events(raw, parameters, options),

    /** All items of any listing, page by page; `parameters` are those of its GET. */
    paginate: <P extends Listing>(
      path: P,
      parameters: ParametersOf<P>,
      options?: RequestOptions,
    ): AsyncGenerator<Item<P>, void, undefined> => paginate(raw, path, parameters, options),
  };
}

/** `DD-MM-YYYY`, as the interface expects a day. */
function day(date: string): string {
  return /^\d{4}-/.test(date) ? date.split('-').reverse().join('-') : date;
}
