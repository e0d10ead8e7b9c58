export type { Answer, CallLimit, Outcome, RawAnswer, RefusalCode, UnknownCause } from './answers/answer.js';
export { RAW_BODY_LIMIT } from './answers/answer.js';
export type {
  ApprovalDeliveryAnswer,
  ApprovalVerdict,
  AuthorityMessage,
  AuthorityVerdict,
  CancellationVerdict,
  DeliveryAnswer,
  DirectoryEntry,
  DocumentState,
  EnvironmentStatus,
  IssuedToken,
  MaintenanceWindow,
  Seed,
  ServiceStatus,
  SubmissionReceipt,
  TrackIdEntry,
  TrackIdList,
} from './answers/verdicts.js';
export { type AuthorityClient, type AuthorityClientOptions, createAuthorityClient } from './client.js';
export {
  AUTHORITY_SERVICES,
  type AuthorityService,
  authorityEndpoints,
  type Endpoints,
  OFFICIAL_ENDPOINTS,
  serviceAddress,
  serviceExists,
} from './endpoints.js';
export type { SignedDocument } from './operations.js';
export { type AddressGuard, isPublicAddress } from './receiver/address-guard.js';
export { type AddressLookup, createNameLookup } from './receiver/name-lookup.js';
export { createReceiverClient, type ReceiverClient, type ReceiverClientOptions } from './receiver/receiver-client.js';
export type { TokenCache } from './tokens/token-cache.js';
export { inMemoryTokenCache } from './tokens/token-cache.js';
export {
  createTokenProvider,
  type TokenKey,
  type TokenProvider,
  type TokenRequest,
} from './tokens/token-provider.js';
export type { CallReport, OnCall, OperationName } from './transport/call-report.js';
export {
  type CallResult,
  type CircuitBreakerOptions,
  type CircuitBreakers,
  createCircuitBreakers,
  DEFAULT_CIRCUIT_BREAKERS,
  type Health,
} from './transport/circuit-breakers.js';
export { documentFileName } from './transport/multipart.js';
export {
  createTransport,
  DEFAULT_TIMEOUTS,
  type Timeouts,
  type TlsOptions,
  type Transport,
} from './transport/transport.js';
