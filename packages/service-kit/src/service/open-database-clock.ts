import type { Queries } from '../postgres/database.js';
import { createDatabaseClock, type DatabaseClock } from '../postgres/database-clock.js';
import type { ReportClockSkew } from '../telemetry/clock-skew.js';
import type { Logger } from '../telemetry/logger.js';

/** The clock of a service's database; a failed reading is logged. */
export function openDatabaseClock(database: Queries, skew: ReportClockSkew, logger: Logger): DatabaseClock {
  const onError = (error: unknown) => logger.warn({ err: error }, 'the clock of the database could not be read');
  return createDatabaseClock({ database, skew, onError });
}
