export * from './shared-cache.js';
