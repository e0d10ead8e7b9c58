export { cacheFolder, once } from './cache.js';
export { debianProgram } from './debian-program.js';
export { dockerAnswers } from './docker.js';
export { brokerEnvironment, KAFKA_IMAGE } from './kafka-docker.js';
export { brokerReady, javaBrokerCommand, javaLacks, prepareJavaBroker } from './kafka-java.js';
export type { BrokerAccess, SecureListener } from './kafka-java-settings.js';
export { freePort, reachable, waitFor } from './ports.js';
export { redisProgram } from './redis-program.js';
