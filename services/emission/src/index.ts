export { createEmission, type Emission, type EmissionOverrides } from './app.js';
export { type EmissionConfig, emissionConfig, emissionSettings } from './config.js';
export type { AccountSource } from './core/ports.js';
export { createPostgresNumberStore } from './outbound/numbers.postgres.js';
