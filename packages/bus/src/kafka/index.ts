export { createKafkaBus } from './bus.kafka.js';
export { brokerUser, makeBrokerPasswords, prepareTopics } from './kafka-topics.js';
