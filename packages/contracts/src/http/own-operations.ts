import type { HttpMethod } from './operations.js';

/** An operation of the gateway itself. */
export interface OwnOperation {
  readonly id: string;
  readonly method: HttpMethod;
  readonly path: string;
}

/** The operations of the gateway without a key. */
export const OWN_OPERATIONS = [
  { id: 'service', method: 'GET', path: '/' },
  { id: 'errors', method: 'GET', path: '/errors' },
  { id: 'live', method: 'GET', path: '/health/live' },
  { id: 'ready', method: 'GET', path: '/health/ready' },
  { id: 'openApi', method: 'GET', path: '/openapi.json' },
  { id: 'docs', method: 'GET', path: '/docs' },
  { id: 'docsFile', method: 'GET', path: '/docs/{file}' },
] as const satisfies readonly OwnOperation[];

/** The administration; it exists if ADMIN_TOKEN is set. */
export const ADMIN_OPERATIONS = [
  { id: 'adminOpenApi', method: 'GET', path: '/admin/openapi.json' },
  { id: 'createAccount', method: 'POST', path: '/admin/accounts' },
  { id: 'listAccounts', method: 'GET', path: '/admin/accounts' },
  { id: 'findAccount', method: 'GET', path: '/admin/accounts/{id}' },
  { id: 'setAccountActive', method: 'PATCH', path: '/admin/accounts/{id}' },
  { id: 'createTaxpayer', method: 'POST', path: '/admin/accounts/{id}/taxpayers' },
  { id: 'listTaxpayers', method: 'GET', path: '/admin/accounts/{id}/taxpayers' },
  { id: 'findTaxpayer', method: 'GET', path: '/admin/accounts/{id}/taxpayers/{rnc}' },
  { id: 'setTaxpayerActive', method: 'PATCH', path: '/admin/accounts/{id}/taxpayers/{rnc}' },
  { id: 'putCertificate', method: 'PUT', path: '/admin/accounts/{id}/taxpayers/{rnc}/certificate' },
  { id: 'findCertificate', method: 'GET', path: '/admin/accounts/{id}/taxpayers/{rnc}/certificate' },
  { id: 'putRanges', method: 'PUT', path: '/admin/accounts/{id}/taxpayers/{rnc}/ranges' },
  { id: 'findRanges', method: 'GET', path: '/admin/accounts/{id}/taxpayers/{rnc}/ranges' },
  { id: 'createApiKey', method: 'POST', path: '/admin/accounts/{id}/api-keys' },
  { id: 'listApiKeys', method: 'GET', path: '/admin/accounts/{id}/api-keys' },
  { id: 'findApiKey', method: 'GET', path: '/admin/accounts/{id}/api-keys/{keyId}' },
  { id: 'revokeApiKey', method: 'DELETE', path: '/admin/accounts/{id}/api-keys/{keyId}' },
  { id: 'rotateApiKey', method: 'POST', path: '/admin/accounts/{id}/api-keys/{keyId}/rotate' },
  { id: 'listDeliveries', method: 'GET', path: '/admin/deliveries' },
  { id: 'retryDelivery', method: 'POST', path: '/admin/deliveries/retry' },
  { id: 'listAlarmed', method: 'GET', path: '/admin/documents/alarmed' },
  { id: 'resolveDocument', method: 'POST', path: '/admin/documents/resolve' },
  { id: 'listDoubtful', method: 'GET', path: '/admin/cancellations/doubtful' },
  { id: 'settleCancellation', method: 'POST', path: '/admin/cancellations/settle' },
  { id: 'listUndecided', method: 'GET', path: '/admin/approvals/undecided' },
  { id: 'settleApproval', method: 'POST', path: '/admin/approvals/settle' },
  { id: 'retryApproval', method: 'POST', path: '/admin/approvals/retry' },
  { id: 'decideApproval', method: 'POST', path: '/admin/accounts/{id}/approvals/{answerId}/decide' },
  { id: 'startRebuild', method: 'POST', path: '/admin/rebuilds/query' },
  { id: 'rebuildState', method: 'GET', path: '/admin/rebuilds/query' },
  { id: 'storedFiles', method: 'GET', path: '/admin/archive/{service}' },
] as const satisfies readonly OwnOperation[];

export type OwnOperationId = (typeof OWN_OPERATIONS)[number]['id'];
export type AdminOperationId = (typeof ADMIN_OPERATIONS)[number]['id'];
