export { CuttableProxy } from './cuttable-proxy.js';
export { dockerAnswers } from './docker.js';
export * from './kafka.js';
export { brokerEnvironment, KAFKA_IMAGE } from './kafka-docker.js';
export { javaBrokerCommand, javaLacks, KAFKA_VERSION, prepareJavaBroker } from './kafka-java.js';
export { missing } from './missing.js';
export { reachable } from './ports.js';
export { type RedisServer, redis, redisProgram } from './redis.js';
export { createBucket, type S3Server, s3, s3Program } from './s3.js';
