export { type AuthorityCall, measureAuthorityCalls } from './authority-calls.js';
export * from './clock-skew.js';
export * from './log-file.js';
export * from './logger.js';
export * from './metrics.js';
export * from './queues.js';
export { stopTelemetry } from './telemetry-stop.js';
export * from './tracing.js';
