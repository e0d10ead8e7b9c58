export * from './health.js';
export * from './run-http-service.js';
export * from './run-service.js';
export * from './service-parts.js';
