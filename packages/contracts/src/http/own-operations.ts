export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** An operation of the gateway itself. */
export interface OwnOperation {
  readonly id: string;
  readonly method: HttpMethod;
  readonly path: string;
}

/** The roles of administrators; each includes those before it. */
export const ROLES = ['viewer', 'operator', 'owner'] as const;
export type Role = (typeof ROLES)[number];

/** An operation of the administration, and the least role that it needs; null = open to everybody. */
export interface AdminOperation extends OwnOperation {
  readonly role: Role | null;
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

/**
 * The settings of an account, by their address below it: `/admin/accounts/{id}` for administrators, `/account` for keys of the
 * account with the scope `manage`.
 */
export const ACCOUNT_SETTINGS = [
  { id: 'putCertificate', method: 'PUT', role: 'operator', path: '/taxpayers/{rnc}/certificate' },
  { id: 'findCertificate', method: 'GET', role: 'viewer', path: '/taxpayers/{rnc}/certificate' },
  { id: 'putRanges', method: 'PUT', role: 'operator', path: '/taxpayers/{rnc}/ranges' },
  { id: 'findRanges', method: 'GET', role: 'viewer', path: '/taxpayers/{rnc}/ranges' },
  { id: 'startRun', method: 'POST', role: 'operator', path: '/taxpayers/{rnc}/runs' },
  { id: 'createApiKey', method: 'POST', role: 'owner', path: '/api-keys' },
  { id: 'listApiKeys', method: 'GET', role: 'viewer', path: '/api-keys' },
  { id: 'findApiKey', method: 'GET', role: 'viewer', path: '/api-keys/{keyId}' },
  { id: 'changeApiKey', method: 'PATCH', role: 'owner', path: '/api-keys/{keyId}' },
  { id: 'revokeApiKey', method: 'DELETE', role: 'owner', path: '/api-keys/{keyId}' },
  { id: 'rotateApiKey', method: 'POST', role: 'owner', path: '/api-keys/{keyId}/rotate' },
  { id: 'createWebhook', method: 'POST', role: 'operator', path: '/webhooks' },
  { id: 'listWebhooks', method: 'GET', role: 'viewer', path: '/webhooks' },
  { id: 'findWebhook', method: 'GET', role: 'viewer', path: '/webhooks/{webhookId}' },
  { id: 'changeWebhook', method: 'PATCH', role: 'operator', path: '/webhooks/{webhookId}' },
  { id: 'deleteWebhook', method: 'DELETE', role: 'operator', path: '/webhooks/{webhookId}' },
  { id: 'rotateWebhook', method: 'POST', role: 'operator', path: '/webhooks/{webhookId}/rotate' },
  { id: 'replayWebhook', method: 'POST', role: 'operator', path: '/webhooks/{webhookId}/replay' },
  { id: 'testWebhook', method: 'POST', role: 'operator', path: '/webhooks/{webhookId}/test' },
] as const satisfies readonly AdminOperation[];

/** The administration; it exists if ADMIN_TOKEN is set. */
export const ADMIN_OPERATIONS = [
  { id: 'adminOpenApi', method: 'GET', role: null, path: '/admin/openapi.json' },
  { id: 'createAccount', method: 'POST', role: 'operator', path: '/admin/accounts' },
  { id: 'listAccounts', method: 'GET', role: 'viewer', path: '/admin/accounts' },
  { id: 'findAccount', method: 'GET', role: 'viewer', path: '/admin/accounts/{id}' },
  { id: 'setAccountActive', method: 'PATCH', role: 'operator', path: '/admin/accounts/{id}' },
  { id: 'createTaxpayer', method: 'POST', role: 'operator', path: '/admin/accounts/{id}/taxpayers' },
  { id: 'listTaxpayers', method: 'GET', role: 'viewer', path: '/admin/accounts/{id}/taxpayers' },
  { id: 'findTaxpayer', method: 'GET', role: 'viewer', path: '/admin/accounts/{id}/taxpayers/{rnc}' },
  { id: 'setTaxpayerActive', method: 'PATCH', role: 'operator', path: '/admin/accounts/{id}/taxpayers/{rnc}' },
  ...ACCOUNT_SETTINGS.map((setting) => ({ ...setting, path: `/admin/accounts/{id}${setting.path}` as const })),
  { id: 'listDeliveries', method: 'GET', role: 'viewer', path: '/admin/deliveries' },
  { id: 'retryDelivery', method: 'POST', role: 'operator', path: '/admin/deliveries/retry' },
  { id: 'listAlarmed', method: 'GET', role: 'viewer', path: '/admin/documents/alarmed' },
  { id: 'resolveDocument', method: 'POST', role: 'operator', path: '/admin/documents/resolve' },
  { id: 'listDoubtful', method: 'GET', role: 'viewer', path: '/admin/cancellations/doubtful' },
  { id: 'settleCancellation', method: 'POST', role: 'operator', path: '/admin/cancellations/settle' },
  { id: 'listUndecided', method: 'GET', role: 'viewer', path: '/admin/approvals/undecided' },
  { id: 'settleApproval', method: 'POST', role: 'operator', path: '/admin/approvals/settle' },
  { id: 'retryApproval', method: 'POST', role: 'operator', path: '/admin/approvals/retry' },
  { id: 'decideApproval', method: 'POST', role: 'operator', path: '/admin/accounts/{id}/approvals/{answerId}/decide' },
  { id: 'startRebuild', method: 'POST', role: 'operator', path: '/admin/rebuilds/query' },
  { id: 'rebuildState', method: 'GET', role: 'viewer', path: '/admin/rebuilds/query' },
  { id: 'masterKeyState', method: 'GET', role: 'viewer', path: '/admin/master-keys' },
  { id: 'resealBlock', method: 'POST', role: 'operator', path: '/admin/master-keys/reseal' },
  { id: 'storedFiles', method: 'GET', role: 'viewer', path: '/admin/archive/{service}' },
  { id: 'listAudit', method: 'GET', role: 'viewer', path: '/admin/audit' },
  { id: 'createAdministrator', method: 'POST', role: 'owner', path: '/admin/administrators' },
  { id: 'listAdministrators', method: 'GET', role: 'owner', path: '/admin/administrators' },
  { id: 'findAdministrator', method: 'GET', role: 'owner', path: '/admin/administrators/{administratorId}' },
  { id: 'deleteAdministrator', method: 'DELETE', role: 'owner', path: '/admin/administrators/{administratorId}' },
] as const satisfies readonly AdminOperation[];

export type OwnOperationId = (typeof OWN_OPERATIONS)[number]['id'];
export type AccountSettingId = (typeof ACCOUNT_SETTINGS)[number]['id'];
export type AdminOperationId = (typeof ADMIN_OPERATIONS)[number]['id'];
