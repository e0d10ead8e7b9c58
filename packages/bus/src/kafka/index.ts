export { createKafkaBus } from './bus.kafka.js';
export { countBrokers } from './kafka-client.js';
export { brokerUser, makeBrokerPasswords, prepareTopics } from './kafka-topics.js';
