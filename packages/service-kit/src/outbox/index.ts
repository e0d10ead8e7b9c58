export * from './event-handling.js';
export * from './inbox.js';
export * from './outbox.js';
export * from './outbox-relay.js';
