export * from './kafka.js';
