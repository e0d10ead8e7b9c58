/** Paths below `/admin`, as the audit log names objects. */
export const accountPath = (id: string) => `/accounts/${id}`;
export const taxpayerPath = (accountId: string, rnc: string) => `${accountPath(accountId)}/taxpayers/${rnc}`;
export const apiKeyPath = (accountId: string, keyId: string) => `${accountPath(accountId)}/api-keys/${keyId}`;
export const webhookPath = (accountId: string, id: string) => `${accountPath(accountId)}/webhooks/${id}`;
export const administratorPath = (id: string) => `/administrators/${id}`;
