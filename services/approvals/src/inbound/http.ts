import {
  AFTERMATH_OPERATIONS,
  type AftermathOperations,
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  DELIVERY_OPERATIONS,
  type DeliveryOperations,
} from '@ecf/contracts';
import { withPlainPublicPath } from '@ecf/public-door';
import {
  type Caller,
  createHttpApp,
  healthRoutes,
  internalOperationRoutes,
  jsonBody,
  type Logger,
  type Readiness,
  requireIdentity,
} from '@ecf/service-kit';
import type { Express, Request, RequestHandler, Response } from 'express';
import type { QueryAcknowledgements } from '../core/query-acknowledgements.js';
import { acknowledgementRoutes } from './acknowledgement-routes.js';
import { type ApprovalDoorParts, receiveApproval } from './approval-door.js';
import { type ApprovalRouteParts, approvalRoutes } from './approval-routes.js';
import { mapErrors } from './error-mapping.js';

type Handler = (req: Request, res: Response) => void | Promise<void>;

/** Who may call: `public` the world, `account` a customer with its key. */
type Route = readonly [method: 'get' | 'post', path: string, caller: 'public' | 'account', handler: Handler];

/** The longest JSON of a request. */
const MAX_JSON_BYTES = 1_048_576;

/**
 * Every route of the service. Paths are compared without case and with or without a slash at the end; public ones also
 * with an environment before them.
 */
function routeTable(parts: ApprovalsHttpParts): readonly Route[] {
  const approvals = approvalRoutes(parts);
  const acknowledgements = acknowledgementRoutes(parts.acknowledgements);
  return [
    ['post', '/fe/aprobacioncomercial/api/ecf', 'public', receiveApproval(parts.door)],
    ['get', '/fe/aprobacioncomercial/api/invoices/:encf', 'account', approvals.received],
    ['post', '/acecf', 'account', approvals.create],
    ['get', '/acecf', 'account', approvals.list],
    ['get', '/acecf/:approval_id', 'account', approvals.one],
    ['get', '/acecf/:approval_id/xml', 'account', approvals.xml],
    ['get', '/received-arecf', 'account', acknowledgements.list],
    ['get', '/received-arecf/:encf', 'account', acknowledgements.one],
    ['get', '/received-arecf/:encf/xml', 'account', acknowledgements.xml],
  ];
}

export interface ApprovalsHttpParts extends ApprovalRouteParts {
  readonly door: ApprovalDoorParts;
  readonly acknowledgements: QueryAcknowledgements;
  readonly internal: DeliveryOperations;
  readonly stored: ArchiveOperations;
  readonly aftermath: AftermathOperations;
}

export interface ApprovalsHttpOptions {
  readonly logger: Logger;
  readonly identityKey: Uint8Array;
  readonly clock: () => Date;
  readonly maxBodyBytes: number;
  readonly ready: () => Promise<Readiness>;
}

/** The service's express app. Every route but health needs an identity signed by the gateway. */
export function createApprovalsApp(parts: ApprovalsHttpParts, options: ApprovalsHttpOptions): Express {
  return createHttpApp({
    logger: options.logger,
    maxBodyBytes: options.maxBodyBytes,
    routes(app) {
      app.use(healthRoutes(options.ready));
      app.use(withPlainPublicPath);
      for (const [method, path, kind, handler] of routeTable(parts)) {
        const json: RequestHandler[] = method === 'post' && kind === 'account' ? jsonBody(MAX_JSON_BYTES) : [];
        app[method](path, identity(options, kind), ...json, handler);
      }
      app.use(internalOperationRoutes(DELIVERY_OPERATIONS, parts.internal, options));
      app.use(internalOperationRoutes(AFTERMATH_OPERATIONS, parts.aftermath, options));
      app.use(internalOperationRoutes(ARCHIVE_OPERATIONS, parts.stored, options));
      app.use(mapErrors);
    },
  });
}

function identity(options: ApprovalsHttpOptions, kind: Caller['kind']): RequestHandler {
  return requireIdentity({ key: options.identityKey, clock: options.clock, kinds: [kind] });
}
