export { freePort } from '@ecf/deployment/servers';
export { CuttableProxy } from './cuttable-proxy.js';
export * from './kafka.js';
export { runJavaBroker } from './kafka-java.js';
export { missing } from './missing.js';
export { promtool } from './promtool.js';
export { type RedisServer, redis } from './redis.js';
export { createBucket, type S3Server, s3 } from './s3.js';
