export * from './bounded-workers.js';
export * from './start-worker-threads.js';
