export { dockerAnswers } from './docker.js';
export * from './kafka.js';
export { javaBrokerCommand, javaLacks, KAFKA_VERSION, prepareJavaBroker } from './kafka-java.js';
export { missing } from './missing.js';
export { reachable } from './ports.js';
