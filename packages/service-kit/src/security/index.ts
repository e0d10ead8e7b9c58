export * from './audit-chain.js';
export * from './identity.js';
export * from './redaction.js';
export * from './seal.js';
export * from './sealing-keys.js';
export * from './service-keys.js';
