import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  RECEPTION_OPERATIONS,
  type ReceptionOperations,
} from '@ecf/contracts';
import { withPlainPublicPath } from '@ecf/public-door';
import {
  type Caller,
  createHttpApp,
  healthRoutes,
  internalOperationRoutes,
  type Logger,
  type Readiness,
  requireIdentity,
} from '@ecf/service-kit';
import type { ErrorRequestHandler, Express, Request, RequestHandler, Response } from 'express';
import type { ProviderTokens } from '../core/provider-tokens.js';
import type { QueryReceived } from '../core/query-received.js';
import { type AcknowledgeParts, acknowledge } from './acknowledge.js';
import { toAnswer } from './answer-errors.js';
import { type AuthenticateParts, issueSeed, validateSeed } from './authenticate.js';
import { listings } from './listings.js';

type Handler = (req: Request, res: Response) => void | Promise<void>;

/** Who may call: `public` the world, `account` a customer with its key. */
type Route = readonly [method: 'get' | 'post', path: string, caller: 'public' | 'account', handler: Handler];

/**
 * Every route of the service but the questions of other services (`RECEPTION_OPERATIONS`). Paths are compared without
 * case and with or without a slash at the end; public ones also with an environment before them and with the accent of
 * the official text. Literal paths stand before `:encf`.
 */
function routeTable(parts: ReceptionHttpParts): readonly Route[] {
  const list = listings(parts.query);
  return [
    ['post', '/fe/recepcion/api/ecf', 'public', acknowledge(parts)],
    ['get', '/fe/autenticacion/api/semilla', 'public', issueSeed(parts)],
    ['post', '/fe/autenticacion/api/validacioncertificado', 'public', validateSeed(parts)],
    ['get', '/fe/recepcion/api/invoices', 'account', list.fromProvider],
    ['get', '/fe/recepcion/api/invoices/all', 'account', list.all],
    ['get', '/fe/recepcion/api/invoices/count', 'account', list.count],
    ['get', '/fe/recepcion/api/invoices/:encf', 'account', list.one],
    ['get', '/arecf/:encf', 'account', list.acknowledgement],
  ];
}

export interface ReceptionHttpParts extends Omit<AcknowledgeParts, 'tokens'>, Omit<AuthenticateParts, 'tokens'> {
  readonly tokens: ProviderTokens;
  readonly query: QueryReceived;
  readonly internal: ReceptionOperations;
  readonly stored: ArchiveOperations;
}

export interface ReceptionHttpOptions {
  readonly logger: Logger;
  readonly identityKey: Uint8Array;
  readonly clock: () => Date;
  readonly maxBodyBytes: number;
  readonly ready: () => Promise<Readiness>;
}

/** The service's express app. Every route but health needs an identity signed by the gateway. */
export function createReceptionApp(parts: ReceptionHttpParts, options: ReceptionHttpOptions): Express {
  return createHttpApp({
    logger: options.logger,
    maxBodyBytes: options.maxBodyBytes,
    routes(app) {
      app.use(healthRoutes(options.ready));
      app.use(withPlainPublicPath);
      for (const [method, path, kind, handler] of routeTable(parts)) {
        app[method](path, identity(options, kind), handler);
      }
      app.use(internalOperationRoutes(RECEPTION_OPERATIONS, parts.internal, options));
      app.use(internalOperationRoutes(ARCHIVE_OPERATIONS, parts.stored, options));
      app.use(answerErrors);
    },
  });
}

function identity(options: ReceptionHttpOptions, kind: Caller['kind']): RequestHandler {
  return requireIdentity({ key: options.identityKey, clock: options.clock, kinds: [kind] });
}

const answerErrors: ErrorRequestHandler = (error, _req, _res, next) => next(toAnswer(error));
