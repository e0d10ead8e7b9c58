export { ConfigError } from './config.js';
export * from './open-xml-store.js';
export * from './xml-store.js';
