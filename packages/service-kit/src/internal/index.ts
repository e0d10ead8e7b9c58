export * from './internal-operations.js';
export * from './taxpayer-source.http.js';
