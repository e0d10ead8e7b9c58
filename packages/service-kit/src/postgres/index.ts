export * from './batches.js';
export * from './database.js';
export * from './database-errors.js';
export * from './migrate.js';
export * from './storage-full.js';
