export * from './dead-letters.files.js';
export * from './dead-letters.js';
export * from './dead-letters.kafka.js';
