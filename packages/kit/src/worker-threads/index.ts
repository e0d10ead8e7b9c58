export { startBoundedWorkers, TaskTooCostly } from './bounded-workers.js';
export { compiledWorker } from './start-worker-threads.js';
