export { createReception, type Reception, type ReceptionOverrides } from './app.js';
export { type ReceptionConfig, readReceptionConfig, receptionSettings } from './config.js';
