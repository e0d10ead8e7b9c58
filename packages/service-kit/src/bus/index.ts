export * from './bus.in-process.js';
export * from './bus.js';
export * from './bus-settings.js';
export * from './events.js';
export * from './kafka/bus.kafka.js';
export { prepareTopics } from './kafka/kafka-topics.js';
export * from './open-bus.js';
export * from './received-number.js';
