export * from './database.js';
export * from './database-clock.js';
export * from './database-errors.js';
export * from './due-times.js';
export * from './ids.js';
export * from './migrate.js';
export * from './shared-calls.js';
export * from './storage-full.js';
