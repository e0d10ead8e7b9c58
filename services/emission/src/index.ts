export { createEmission, type Emission, type EmissionOverrides } from './app.js';
export { type EmissionConfig, emissionConfig, emissionSettings } from './config.js';
export type { AccountSource } from './credentials/ports.js';
export { createPostgresNumberStore } from './numbers/numbers.postgres.js';
