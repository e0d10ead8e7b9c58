import {
  ARCHIVE_OPERATIONS,
  type ArchiveOperations,
  DELIVERY_OPERATIONS,
  type DeliveryOperations,
  MASTER_KEY_OPERATIONS,
  type MasterKeyOperations,
  OUTCOME_OPERATIONS,
  type OutcomeOperations,
} from '@ecf/contracts';
import { parseJson } from '@ecf/ecf-xml';
import { withPlainPublicPath } from '@ecf/public-ingress';
import {
  createServiceApp,
  jsonBody,
  type ServiceAppOptions,
  type ServiceRoute,
  unreadableIsInvalid,
} from '@ecf/service-kit/http';
import { internalOperationRoutes } from '@ecf/service-kit/internal';
import type { Express } from 'express';
import { acknowledgementRoutes } from './buyers/acknowledgements.http.js';
import type { QueryAcknowledgements } from './buyers/query-acknowledgements.js';
import { mapErrors } from './errors.http.js';
import { type ApprovalRouteParts, approvalRoutes } from './given/approvals.http.js';
import { type ApprovalIngressParts, receiveApproval } from './received/receive-approval.http.js';

/** The longest JSON of a request. */
const MAX_JSON_BYTES = 1_048_576;
/** An approval has some twenty values. A hundred thousand would occupy the event loop. */
const MAX_JSON_VALUES = 1_000;

/** Every route of the service. Public ones are found also with an environment before them. */
function routeTable(parts: ApprovalsHttpParts): readonly ServiceRoute[] {
  const approvals = approvalRoutes(parts);
  const acknowledgements = acknowledgementRoutes(parts.acknowledgements);
  const jsonOf = jsonBody(MAX_JSON_BYTES, (body) => parseJson(body, Number, MAX_JSON_VALUES), unreadableIsInvalid);
  return [
    ['post', '/fe/aprobacioncomercial/api/ecf', 'public', receiveApproval(parts.ingress)],
    ['get', '/fe/aprobacioncomercial/api/invoices/:encf', 'account', approvals.received],
    ['get', '/fe/aprobacioncomercial/api/invoices/:encf/answers', 'account', approvals.answers],
    ['post', '/acecf', 'account', jsonOf, approvals.create],
    ['get', '/acecf', 'account', approvals.list],
    ['get', '/acecf/:approval_id', 'account', approvals.one],
    ['get', '/acecf/:approval_id/xml', 'account', approvals.xml],
    ['get', '/received-arecf', 'account', acknowledgements.list],
    ['get', '/received-arecf/:encf', 'account', acknowledgements.one],
    ['get', '/received-arecf/:encf/xml', 'account', acknowledgements.xml],
  ];
}

export interface ApprovalsHttpParts extends ApprovalRouteParts {
  readonly ingress: ApprovalIngressParts;
  readonly acknowledgements: QueryAcknowledgements;
  readonly internal: DeliveryOperations;
  readonly stored: ArchiveOperations;
  readonly masterKeys: MasterKeyOperations;
  readonly outcomes: OutcomeOperations;
}

/** The service's express app. */
export function createApprovalsApp(parts: ApprovalsHttpParts, options: ServiceAppOptions): Express {
  return createServiceApp(options, {
    readdress: withPlainPublicPath,
    routes: routeTable(parts),
    internal: [
      internalOperationRoutes(DELIVERY_OPERATIONS, parts.internal, options.identities),
      internalOperationRoutes(OUTCOME_OPERATIONS, parts.outcomes, options.identities),
      internalOperationRoutes(ARCHIVE_OPERATIONS, parts.stored, options.identities),
      internalOperationRoutes(MASTER_KEY_OPERATIONS, parts.masterKeys, options.identities),
    ],
    mapErrors,
  });
}
