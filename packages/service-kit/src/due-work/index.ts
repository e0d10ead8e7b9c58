export * from './due-time-watch.js';
export * from './due-work.js';
