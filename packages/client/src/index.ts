export type { BatchOptions, Documents, SubmittedLine } from './batches.js';
export {
  type ClientOptions,
  createClient,
  type GatewayClient,
  type InvoiceFilters,
  type InvoiceId,
  type ReceivedFilters,
  type SubmitOptions,
} from './client.js';
export * from './documents.js';
export { GatewayError } from './errors.js';
export type { components, operations, paths } from './generated/openapi.js';
export { type EventParameters, type Listing, type RequestOptions, unwrap } from './listings.js';
export type * from './types.js';
export { verifyWebhook, type WebhookHeaders, type WebhookOptions } from './webhooks.js';
