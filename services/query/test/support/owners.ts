import {
  EMISSION_OPERATIONS,
  type EmissionOperations,
  type InvoiceChanged,
  RECEPTION_OPERATIONS,
  type ReceivedInvoiceChanged,
} from '@ecf/contracts';
import { createHttpApp, internalOperationRoutes, type RunningServer, serve } from '@ecf/http';
import { ApiError } from '@ecf/kit';
import { identitiesOf, silentLogger } from '@ecf/test-support/services';
import type { ReceivedSource } from '../../src/invoices/ports.js';

/** Emission and reception as seen by the query service: their documents, and whether they answer. */
export interface Owners {
  /** Commits a state at the owner without publishing an event. */
  issue(...invoices: InvoiceChanged[]): void;
  receive(...received: ReceivedInvoiceChanged[]): void;
  away: boolean;
  /** The answer to a query for a whole document, which may exceed the size of events. */
  whole: InvoiceChanged | null;
  /** Queries so far, by operation. */
  readonly queries: string[];
  /** Every request for a token. */
  readonly tokenRequests: Parameters<EmissionOperations['authorityToken']>[0][];
  tokenRefusal: Error | null;
  rawAnswers: Awaited<ReturnType<EmissionOperations['rawAnswers']>>['answers'];
  /** Called before each page of a rebuild. */
  beforePage: () => Promise<void>;
  readonly emission: Omit<EmissionOperations, 'sealedCertificate'>;
  readonly reception: ReceivedSource;
}

export function createOwners(): Owners {
  const invoices = new Map<string, InvoiceChanged>();
  /** The present run by environment and issuer. */
  const runs = new Map<string, number>();
  const received = new Map<string, ReceivedInvoiceChanged>();

  function operation<Q, A>(name: string, answer: (request: Q) => A | Promise<A>): (request: Q) => Promise<A> {
    return async (request) => {
      owners.queries.push(name);
      if (owners.away) throw new ApiError(503, 'service_unavailable', `${name} is unreachable`);
      // A copy, as over HTTP.
      return structuredClone(await answer(request));
    };
  }

  function page<T extends { id: number }>(
    all: Iterable<T>,
    after: number,
    limit: number,
  ): { rows: T[]; next: number | null } {
    const rows = [...all].filter(({ id }) => id > after).sort((a, b) => a.id - b.id);
    const some = rows.slice(0, limit);
    return { rows: some, next: rows.length > limit ? (some.at(-1)?.id ?? null) : null };
  }

  const owners: Owners = {
    issue(...some) {
      for (const one of some) {
        const { run = 1 } = one;
        const issuer = `${one.env}:${one.issuer_rnc}`;
        invoices.set(`${issuer}:${one.encf}:${run}`, one);
        runs.set(issuer, Math.max(run, runs.get(issuer) ?? 1));
      }
    },
    receive(...some) {
      for (const one of some) received.set(`${one.env}:${one.issuer_rnc}:${one.encf}:${one.buyer_rnc}`, one);
    },
    away: false,
    whole: null,
    queries: [],
    tokenRequests: [],
    tokenRefusal: null,
    rawAnswers: [],
    beforePage: async () => undefined,
    emission: {
      authorityToken: operation('authorityToken', (request) => {
        owners.tokenRequests.push(request);
        if (owners.tokenRefusal !== null) throw owners.tokenRefusal;
        return { token: request.refused === null ? 'token-1' : 'token-2', expires_in: 3_600 };
      }),
      findInvoices: operation('findInvoices', ({ env, numbers, whole }) => ({
        invoices:
          whole === true && owners.whole !== null
            ? [owners.whole]
            : numbers.flatMap(
                ({ issuer_rnc, encf, run = runs.get(`${env}:${issuer_rnc}`) ?? 1 }) =>
                  invoices.get(`${env}:${issuer_rnc}:${encf}:${run}`) ?? [],
              ),
      })),
      pageOfInvoices: operation('pageOfInvoices', async ({ after, limit }) => {
        await owners.beforePage();
        const { rows, next } = page(invoices.values(), after, limit);
        return { invoices: rows, next };
      }),
      rawAnswers: operation('rawAnswers', () => ({ answers: owners.rawAnswers })),
    },
    reception: {
      findReceived: operation('findReceived', ({ env, buyer_rncs, issuer_rnc, encf }) => ({
        received: [...received.values()].filter(
          (one) =>
            one.env === env &&
            one.encf === encf &&
            buyer_rncs.includes(one.buyer_rnc) &&
            (issuer_rnc === null || one.issuer_rnc === issuer_rnc),
        ),
      })),
      pageOfReceived: operation('pageOfReceived', async ({ after, limit }) => {
        await owners.beforePage();
        const { rows, next } = page(received.values(), after, limit);
        return { received: rows, next };
      }),
    },
  };
  return owners;
}

/** Serves both owners at one address, like services of another process. */
export function serveOwners(owners: Owners, clock: () => Date): Promise<RunningServer> {
  const emission = { ...owners.emission, sealedCertificate: async () => ({ sealed: null }) };
  const reception = { ...owners.reception, verifyProviderToken: async () => ({ holder: null }) };
  const app = createHttpApp({
    logger: silentLogger,
    maxBodyBytes: 1_048_576,
    routes: (routes) => {
      routes.use(internalOperationRoutes(EMISSION_OPERATIONS, emission, identitiesOf('emission', clock)));
      routes.use(internalOperationRoutes(RECEPTION_OPERATIONS, reception, identitiesOf('reception', clock)));
    },
  });
  return serve(app, { host: '127.0.0.1', port: 0 });
}
