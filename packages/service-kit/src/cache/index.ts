export * from './keep-latest.js';
export * from './shared-cache.js';
