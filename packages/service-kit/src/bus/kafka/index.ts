export { createKafkaBus } from './bus.kafka.js';
export { openKafkaDeadLetters } from './dead-letters.kafka.js';
export { prepareTopics } from './kafka-topics.js';
