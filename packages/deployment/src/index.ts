export * from './child-process.js';
export * from './data-folder.js';
export * from './database-server.js';
export * from './first-invoice.js';
export * from './open-sandbox.js';
export { stablePorts } from './postgres/stable-ports.js';
export * from './sandbox.js';
export * from './settings.js';
export * from './simulator-process.js';
