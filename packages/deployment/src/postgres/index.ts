export * from './embedded-postgres.js';
export { isAlive } from './postmaster.js';
