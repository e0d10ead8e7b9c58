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
import {
  createServiceApp,
  internalOperationRoutes,
  jsonBody,
  type ServiceAppOptions,
  type ServiceRoute,
  unreadableIsInvalid,
} from '@ecf/http';
import { withPlainPublicPath } from '@ecf/public-ingress';
import type { Express } from 'express';
import { acknowledgementRoutes } from './buyers/acknowledgements.http.js';
import type { QueryAcknowledgements } from './buyers/query-acknowledgements.js';
import { mapErrors } from './errors.http.js';
import { givenApprovalRoutes } from './given/approvals.http.js';
import type { GiveApproval } from './given/give-approval.js';
import type { QueryApprovals } from './given/query-approvals.js';
import type { QueryReceivedApprovals } from './received/query-received.js';
import {
  type ApprovalIngressParts,
  receiveApproval,
  receivedApprovalRoutes,
} from './received/received-approvals.http.js';

/** The longest JSON of a request. */
const MAX_JSON_BYTES = 1_048_576;
/** An approval has some twenty values. A hundred thousand would occupy the event loop. */
const MAX_JSON_VALUES = 1_000;

export interface ApprovalsHttpParts {
  readonly given: { readonly give: GiveApproval; readonly query: QueryApprovals };
  readonly received: { readonly ingress: ApprovalIngressParts; readonly query: QueryReceivedApprovals };
  readonly acknowledgements: QueryAcknowledgements;
  readonly operations: {
    readonly internal: DeliveryOperations;
    readonly outcomes: OutcomeOperations;
    readonly stored: ArchiveOperations;
    readonly masterKeys: MasterKeyOperations;
  };
}

/** Every route of the service. Public ones are found also with an environment before them. */
function routeTable(parts: ApprovalsHttpParts): readonly ServiceRoute[] {
  const given = givenApprovalRoutes(parts.given.give, parts.given.query);
  const received = receivedApprovalRoutes(parts.received.query);
  const acknowledgements = acknowledgementRoutes(parts.acknowledgements);
  const jsonOf = jsonBody(MAX_JSON_BYTES, (body) => parseJson(body, Number, MAX_JSON_VALUES), unreadableIsInvalid);
  return [
    ['post', '/fe/aprobacioncomercial/api/ecf', 'public', receiveApproval(parts.received.ingress)],
    ['get', '/fe/aprobacioncomercial/api/invoices/:encf', 'account', received.decision],
    ['get', '/fe/aprobacioncomercial/api/invoices/:encf/answers', 'account', received.answers],
    ['post', '/acecf', 'account', jsonOf, given.create],
    ['get', '/acecf', 'account', given.list],
    ['get', '/acecf/:approval_id', 'account', given.one],
    ['get', '/acecf/:approval_id/xml', 'account', given.xml],
    ['get', '/received-arecf', 'account', acknowledgements.list],
    ['get', '/received-arecf/:encf', 'account', acknowledgements.one],
    ['get', '/received-arecf/:encf/xml', 'account', acknowledgements.xml],
  ];
}

/** The service's express app. */
export function createApprovalsApp(parts: ApprovalsHttpParts, options: ServiceAppOptions): Express {
  const { internal, outcomes, stored, masterKeys } = parts.operations;
  return createServiceApp(options, {
    readdress: withPlainPublicPath,
    routes: routeTable(parts),
    internal: [
      internalOperationRoutes(DELIVERY_OPERATIONS, internal, options.identities),
      internalOperationRoutes(OUTCOME_OPERATIONS, outcomes, options.identities),
      internalOperationRoutes(ARCHIVE_OPERATIONS, stored, options.identities),
      internalOperationRoutes(MASTER_KEY_OPERATIONS, masterKeys, options.identities),
    ],
    mapErrors,
  });
}
