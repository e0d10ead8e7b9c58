export { createAuditCheck, nextAuditEntry } from './audit-chain.js';
export { ConfigError, ConfigProblems, describeSetting, readConfig, setting } from './config.js';
export { ApiError, errorCatalogue, InvalidRequest } from './errors.js';
export { redactText } from './redaction.js';
export { retry } from './retry.js';
export {
  createMasterKeys,
  type PurposeKey,
  requestCertificate,
  SEAL_HEAD,
  type SealBinding,
  SealError,
  type SealingKeys,
  sealHead,
  taxpayerCertificate,
} from './seal.js';
export {
  createSealingKeys,
  makeSealingKeys,
  readMasterKeys,
  readSealingKeys,
  sealingSettings,
} from './sealing-keys.js';
export {
  authoritySettings,
  bodySettings,
  databaseSettings,
  gatewayAddressSettings,
  serverSettings,
} from './service-settings.js';
export {
  currentTraceparent,
  traceHeaders,
  traceIdIn,
  withConsumerSpan,
  withinTrace,
  withoutTrace,
  withProducerSpans,
} from './tracing.js';
export { createWaker } from './waker.js';
