export * from './account-taxpayers.js';
export * from './certificate-uses.js';
export * from './certificates.js';
export * from './certification-runs.js';
export * from './taxpayer-replica.js';
