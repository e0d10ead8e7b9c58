export * from './instances.js';
export * from './reseal.js';
export * from './sealed-rows.js';
