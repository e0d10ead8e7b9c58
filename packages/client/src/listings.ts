import type { Client as FetchClient } from 'openapi-fetch';
import { errorOf, GatewayError } from './errors.js';
import type { paths } from './generated/openapi.js';
import { sleep } from './retry.js';
import type { Event } from './types.js';

/** A client of openapi-fetch. Its types are those of JSON where an operation also answers with CSV or NDJSON. */
export type RawClient = FetchClient<
  paths,
  'application/json' | 'application/xml' | 'application/pdf' | 'image/png' | 'image/svg+xml'
>;

export interface RequestOptions {
  /** Ends the call, its pauses and its repeats. */
  signal?: AbortSignal | undefined;
}

/** Listings whose pages are objects, with the field that has the items. */
const ITEMS = {
  '/invoices': 'invoices',
  '/fe/recepcion/api/invoices': 'invoices',
  '/fe/recepcion/api/invoices/all': 'invoices',
  '/batches': 'batches',
  '/batches/{batch_id}/results': 'results',
  '/contingency': 'documents',
} as const;

type Json<P extends keyof paths> = paths[P] extends {
  get: { responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;
export type ParametersOf<P extends keyof paths> = paths[P] extends { get: { parameters: infer Given } } ? Given : never;
/** A listing: its pages name the next one, or are arrays that `offset` continues. */
export type Listing =
  | keyof typeof ITEMS
  | {
      [P in keyof paths]: ParametersOf<P> extends { query?: { offset?: number } }
        ? Json<P> extends readonly unknown[]
          ? P
          : never
        : never;
    }[keyof paths];
export type Item<P extends Listing> =
  Json<P> extends readonly (infer One)[]
    ? One
    : P extends keyof typeof ITEMS
      ? Json<P> extends Record<(typeof ITEMS)[P], readonly (infer One)[]>
        ? One
        : never
      : never;

interface Outcome {
  data?: unknown;
  error?: unknown;
  response: Response;
}

/**
 * The data of a call of the raw client.
 *
 * @throws GatewayError if the answer is an error
 */
export async function unwrap<R extends Outcome>(call: Promise<R>): Promise<Exclude<R['data'], undefined>> {
  const { data, error, response } = await call;
  if (!response.ok) throw errorOf(response, error ?? '');
  return data as Exclude<R['data'], undefined>;
}

/**
 * All items of a listing, page by page. A listing of received documents that has none is empty, not an error.
 *
 * @param parameters those of `GET`, as OpenAPI has them; `limit` is the size of a page
 */
export async function* paginate<P extends Listing>(
  raw: RawClient,
  path: P,
  parameters: ParametersOf<P>,
  { signal }: RequestOptions = {},
): AsyncGenerator<Item<P>, void, undefined> {
  const get = raw.GET as unknown as (path: string, init: object) => Promise<Outcome>;
  const query: Record<string, unknown> = { ...(parameters as { query?: object }).query };
  for (let isLast = false; !isLast; ) {
    const call = get(path, { params: { ...(parameters as object), query }, signal });
    const page = (await unwrap(call).catch((error) => {
      // The interface answers an empty listing of received documents with 404.
      if (path.startsWith('/fe/recepcion/') && error instanceof GatewayError && error.code === 'not_found') return [];
      throw error;
      // biome-ignore lint/suspicious/noExplicitAny: pages of different listings have different types
    })) as any;
    const { next_cursor, next } = page;
    const items: Item<P>[] = Array.isArray(page) ? page : page[ITEMS[path as keyof typeof ITEMS]];
    yield* items;
    if (Array.isArray(page)) {
      query.offset = Number(query.offset ?? 0) + items.length;
      isLast = items.length === 0;
    } else if (next_cursor) {
      query.cursor = next_cursor;
      delete query.offset;
    } else if (next) query.after = next;
    else isLast = true;
  }
}

export interface EventParameters {
  /** Id of the last event that was handled; without it, the oldest event that is kept is the first. */
  after?: string | undefined;
  /** Only events of these types. */
  types?: readonly Event['type'][] | undefined;
}

/** Seconds that a call waits for an event; proxies commonly end calls after 30. */
const WAIT_SECONDS = 20;
const PAUSE_SECONDS = 5;

/** A success that is not the gateway's: a proxy's page, for example while the gateway is maintained. */
const isOfProxy = ({ status, code }: GatewayError): boolean => status === 200 && code === 'unknown_answer';

/** Events as they happen, without an end; see `GatewayClient.events`. */
export async function* events(
  raw: RawClient,
  { after, types }: EventParameters = {},
  { signal }: RequestOptions = {},
): AsyncGenerator<Event, never, undefined> {
  let hasAnswered = false;
  for (let last = after; ; ) {
    try {
      const query = { after: last, types: types?.join(','), wait: WAIT_SECONDS };
      const page = await unwrap(raw.GET('/events', { params: { query }, signal }));
      hasAnswered = true;
      yield* page.events;
      last = page.next;
    } catch (error) {
      // Until the gateway has answered once, its address may be wrong.
      if (!hasAnswered || !(error instanceof GatewayError && (error.isTemporary || isOfProxy(error)))) throw error;
      await sleep(error.retryAfter ?? PAUSE_SECONDS, signal);
    }
  }
}
