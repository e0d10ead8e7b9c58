export { cleanInbox, once, onceEach } from './inbox.js';
export { appendToOutbox, insertIntoOutbox, outboxBody, outboxPartition, outboxRow } from './outbox.js';
export { createOutboxRelay, type OutboxRelay } from './outbox-relay.js';
