export * from './embedded-postgres.js';
export { EMBEDDED_SETTINGS } from './embedded-settings.js';
export { findPostgresBinaries } from './postgres-binaries.js';
export { isAlive } from './postmaster.js';
export { runningPostgresUrl } from './running-postgres.js';
