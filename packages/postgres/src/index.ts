export {
  type Database,
  databaseName,
  openDatabase,
  type Queries,
  type Statement,
  serviceDatabaseUrl,
  type Transaction,
} from './database.js';
export { createDatabaseClock, type DatabaseClock } from './database-clock.js';
export {
  isDatabaseUnavailable,
  isRefusedByDatabase,
  isStatementAtFault,
  isStorageFull,
  isUniqueViolation,
  LOCK_NOT_AVAILABLE,
  markDatabaseError,
  sqlState,
} from './database-errors.js';
export { type DueTimes, deleteExpired, limitDueTimes, type Retention } from './due-times.js';
export { estimatedRows } from './estimated-rows.js';
export { createIds } from './ids.js';
export { createInstanceReport, type InstanceReport } from './master-keys/instances.js';
export { createMasterKeyOperations } from './master-keys/reseal.js';
export { type SealedValues, sealAnew, sealedRows } from './master-keys/sealed-rows.js';
export {
  connectWhenReady,
  createDatabaseIfMissing,
  lockMigrations,
  MIGRATIONS_TABLE,
  migrate,
  UNFINISHED_RESTORE,
} from './migrate.js';
export { firstIdOf, type MonthlyTable, makeMonthPartitions, nextIdOf } from './months.js';
export { completePartitionIndexes } from './partition-indexes.js';
export { anyOf, camelCaseRows, queryBuilder, rowsOf, snakeCase, snakeCaseRow } from './query-builder.js';
export { changedSince, pagesOf, type Restore, restoreOf, revisionAfter, settleRestores } from './restored.js';
export { createSharedCalls } from './shared-calls.js';
