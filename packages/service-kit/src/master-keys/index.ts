export * from './instances.js';
export * from './reseal.js';
export * from './sealed-rows.js';
export * from './sealed-values.js';
