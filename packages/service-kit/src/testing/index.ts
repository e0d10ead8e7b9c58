/** Stand-ins for tests and benchmarks. */
import { pino } from 'pino';
import type { Logger } from '../telemetry/logger.js';

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });
