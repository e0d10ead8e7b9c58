export * from './account-taxpayers.js';
export * from './certificates.sealed.js';
export * from './taxpayer-store.in-memory.js';
export * from './taxpayer-store.js';
export * from './taxpayer-store.postgres.js';
