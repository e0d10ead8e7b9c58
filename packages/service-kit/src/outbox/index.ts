export { type ActSource, actEvents } from './audit-acts.js';
export { cleanInbox, once, onceEach } from './inbox.js';
export { appendToOutbox, outboxColumns } from './outbox.js';
export { createOutboxRelay, type OutboxRelay } from './outbox-relay.js';
