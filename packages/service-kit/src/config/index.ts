export * from './config.js';
export * from './service-settings.js';
