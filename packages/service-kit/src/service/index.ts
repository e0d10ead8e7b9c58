export { type Cleaning, createCleaning } from './cleaning.js';
export * from './health.js';
export { openBus } from './open-bus.js';
export * from './run-http-service.js';
export * from './run-service.js';
export { serveMetrics } from './serve-metrics.js';
export * from './service-dependencies.js';
export { createStorageReady } from './storage-ready.js';
