export { measureAuthorityCalls } from './authority-calls.js';
export { type ReportClockSkew, reportClockSkew } from './clock-skew.js';
export { type LogFile, openLogFile, openLogWriter, shiftLogFiles } from './log-file.js';
export { createLogger, type Logger } from './logger.js';
export { createMetrics, type Metrics } from './metrics.js';
export { createQueueWatch, type WatchQueue } from './queues.js';
