export * from './environment.js';
export * from './error-codes.js';
export * from './http/error-body.js';
