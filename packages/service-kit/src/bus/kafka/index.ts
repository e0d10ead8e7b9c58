export { createKafkaBus } from './bus.kafka.js';
export { prepareTopics } from './kafka-topics.js';
