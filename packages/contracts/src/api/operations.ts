import { ACCOUNT } from './account.js';
import { ACKNOWLEDGEMENTS } from './acknowledgements.js';
import { ACCOUNTS } from './admin/accounts.js';
import { ADMINISTRATORS } from './admin/administrators.js';
import { API_KEYS } from './admin/api-keys.js';
import { UNDECIDED_APPROVALS } from './admin/approvals.js';
import { AUDIT } from './admin/audit.js';
import { DOUBTFUL_CANCELLATIONS } from './admin/cancellations.js';
import { DELIVERIES } from './admin/deliveries.js';
import { DEPLOYMENT } from './admin/deployment.js';
import { DOCUMENTS } from './admin/documents.js';
import { STATE } from './admin/state.js';
import { TAXPAYER_SETTINGS, TAXPAYERS } from './admin/taxpayers.js';
import { WEBHOOKS } from './admin/webhooks.js';
import { APPROVALS } from './approvals.js';
import { AUTHORITY } from './authority.js';
import { BATCHES } from './batches.js';
import { CANCELLATIONS } from './cancellations.js';
import { CONSOLE_SESSION } from './console.js';
import { EVENTS } from './events.js';
import { INVOICE_STATUS, INVOICES } from './invoices.js';
import { buildDocument, type OpenApiDocument } from './openapi.js';
import type { AdminOperation, Operation } from './operation.js';
import * as P from './parameters.js';
import { RECEIVED_INVOICES, RECEPTION } from './received-invoices.js';
import { OWN_OPERATIONS } from './service.js';
import { SUBMISSIONS } from './submissions.js';

/**
 * The settings of an account, by their path below it: `/admin/accounts/{id}` for administrators, `/account` for keys of the account
 * with the scope `manage`.
 */
const ACCOUNT_SETTINGS: readonly AdminOperation[] = [...TAXPAYER_SETTINGS, ...API_KEYS, ...WEBHOOKS];

/** Every operation of the public interface. Literal parts of a path win over variable ones. */
export const OPERATIONS: readonly Operation[] = [
  ...SUBMISSIONS,
  ...BATCHES,
  ...INVOICE_STATUS,
  ...INVOICES,
  ...EVENTS,
  ...CANCELLATIONS,
  ...RECEPTION,
  ...RECEIVED_INVOICES,
  ...APPROVALS,
  ...ACKNOWLEDGEMENTS,
  ...AUTHORITY,
  ...ACCOUNT,
  ...ACCOUNT_SETTINGS.map(({ role: _, ...setting }) => ({
    ...setting,
    path: `/account${setting.path}`,
    owner: 'gateway' as const,
    access: 'key' as const,
    scopes: ['manage'] as const,
    withoutEnvironment: true as const,
    errors: [...(setting.errors ?? []), 'beyond_own_rights' as const],
  })),
];

/** The administration; it exists if ADMIN_TOKEN is set. */
export const ADMIN_OPERATIONS: readonly AdminOperation[] = [
  ...ACCOUNTS,
  ...TAXPAYERS,
  ...ACCOUNT_SETTINGS.map((setting) => ({
    ...setting,
    path: `/admin/accounts/{id}${setting.path}`,
    params: { id: P.accountId, ...setting.params },
  })),
  ...DELIVERIES,
  ...DOCUMENTS,
  ...DOUBTFUL_CANCELLATIONS,
  ...UNDECIDED_APPROVALS,
  ...DEPLOYMENT,
  ...STATE,
  ...AUDIT,
  ...ADMINISTRATORS,
];

const LICENSE = { name: 'Apache-2.0', identifier: 'Apache-2.0' };

/** The OpenAPI document of the public interface. */
export function openApiDocument(): OpenApiDocument {
  return buildDocument(
    {
      title: 'e-CF gateway',
      version: '3.0',
      summary: 'Electronic fiscal receipts of the Dominican Republic over HTTP and JSON',
      description:
        'A slash at the end of a path is ignored. HEAD works on every path that has GET. Another method is 405 ' +
        '`method_not_allowed` with the header `allow`, another path is 404 `unknown_route`, and a header `expect` ' +
        'other than 100-continue is 417 `expectation_failed`. Times are Dominican (-04:00); amounts are text with ' +
        'two decimals, except total_amount of a received invoice, which the specification makes a number. Operations with a key match the names of query parameters in any case and refuse unknown ones with ' +
        '422; public ones ignore them. Every error has the body `ErrorBody`; `/errors` lists the codes. ' +
        'The administration has its own document, `/admin/openapi.json`.',
      license: LICENSE,
    },
    [
      ...OPERATIONS.map((operation) => ({
        ...operation,
        access: operation.withoutEnvironment ? ('account' as const) : operation.access,
      })),
      ...[...OWN_OPERATIONS, ...CONSOLE_SESSION].map((operation) => ({
        ...operation,
        access: operation.path.startsWith('/health/') ? ('probe' as const) : ('open' as const),
      })),
    ],
    {
      apiKey: {
        type: 'apiKey',
        in: 'header',
        name: 'x-api-key',
        description: 'Key of the account. A sandbox key is valid for TesteCF and CerteCF, a production key for eCF.',
      },
    },
  );
}

/** The OpenAPI document of the administration. */
export function adminOpenApiDocument(): OpenApiDocument {
  return buildDocument(
    {
      title: 'e-CF gateway: administration',
      version: '3.0',
      description:
        'Accounts, taxpayers, certificates, number ranges, API keys and administrators. Available if ADMIN_TOKEN is set. A role includes those before it: viewer, operator, owner.',
      license: LICENSE,
    },
    ADMIN_OPERATIONS.map((operation) => ({ ...operation, access: operation.role === null ? 'open' : 'admin' })),
    {
      adminToken: {
        type: 'http',
        scheme: 'bearer',
        description: 'The token of an administrator, or ADMIN_TOKEN of the deployment (role owner).',
      },
    },
  );
}
