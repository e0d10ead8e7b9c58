export * from './environment.js';
export * from './error-codes.js';
export * from './events/invoice.js';
export * from './events/received-invoice.js';
export * from './events/taxpayer.js';
export * from './http/error-body.js';
export * from './topics.js';
