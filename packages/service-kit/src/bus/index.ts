export { createInProcessBus } from './bus.in-process.js';
export type { Bus, BusEvent, EventHandler, Subscription } from './bus.js';
export { type BusSettings, busSettings, type KafkaSettings, readBusSettings, usesKafka } from './bus-settings.js';
export { EventError, makeEvent } from './events.js';
