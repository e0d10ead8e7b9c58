export { createInProcessBus } from './bus.in-process.js';
export type { Bus, BusEvent, DeadLetter, DeadLetters, Subscription } from './bus.js';
export { type BusSettings, busSettings, type KafkaSettings, readBusSettings, usesKafka } from './bus-settings.js';
export { deadLetterOperations } from './dead-letter-operations.js';
export { createDeadLetters, withDeadLetters } from './dead-letters.js';
export type { RetryPolicy } from './handle-event.js';
export { cleanInbox, once, onceEach } from './outbox/inbox.js';
export { appendToOutbox, outboxColumns } from './outbox/outbox.js';
export { createOutboxRelay, type OutboxRelay } from './outbox/outbox-relay.js';
