export * from './bounded-workers.js';
export * from './document-json.js';
export * from './start-worker-threads.js';
