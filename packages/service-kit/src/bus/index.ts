export { createInProcessBus } from './bus.in-process.js';
export type { Bus, BusEvent, DeadLetter, DeadLetters, EventHandler, Subscription } from './bus.js';
export { type BusSettings, busSettings, type KafkaSettings, readBusSettings, usesKafka } from './bus-settings.js';
export { createDeadLetters, withDeadLetters } from './dead-letters.js';
export { EventError, makeEvent } from './events.js';
