export { createEmission, type Emission, type EmissionOverrides } from './app.js';
export { type EmissionConfig, emissionConfig, emissionSettings } from './config.js';
export { createPostgresNumberStore } from './numbers/numbers.postgres.js';
export type { AccountSource } from './ports.js';
