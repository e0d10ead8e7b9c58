export { createQuery, type Query, type QueryOverrides } from './app.js';
export { type QueryConfig, querySettings, readQueryConfig } from './config.js';
