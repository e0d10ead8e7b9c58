export * from './embedded-postgres.js';
export { isAlive } from './postmaster.js';
export { runningPostgresUrl } from './running-postgres.js';
