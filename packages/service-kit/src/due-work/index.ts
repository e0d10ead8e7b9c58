export * from './due-work.js';
