/** SQLSTATE of an error that PostgreSQL reported, else null. */
export function sqlState(error: unknown): string | null {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : null;
}

/** SQLSTATE of a lock that is not available: within `lock_timeout`, or immediately with NOWAIT. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** True if the error is a violation of this unique constraint or unique index; false for a violation of another one. */
export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return sqlState(error) === '23505' && (error as { constraint?: unknown }).constraint === constraint;
}

const NETWORK = new Set([
  // A Unix socket whose server is not there.
  'ENOENT',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ETIMEDOUT',
  'EPIPE',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);
/** The driver and its pool report these without a code. */
const DRIVER_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Query read timeout',
];
/**
 * SQLSTATE classes and codes of an unavailable database: connection; out of memory, disk or connections; shutdown, crash,
 * cannot connect now; I/O errors; statement timeout; a read-only server, such as one that another has replaced.
 */
const UNAVAILABLE = ['08', '53', '57P0', '58', '57014', '25006'];
/** The codes that a statement may cause itself: it takes too long or too much memory, or reads a damaged page. */
const STATEMENT_FAULTS = ['53200', '57014', '58'];
/** Causes may lead in a circle. */
const MOST_CAUSES = 8;

/**
 * True if the database is down, starting, stopping, stuck, read-only or out of resources. The request is right and can
 * succeed later. Counts: an SQLSTATE of {@link UNAVAILABLE}, the driver's own messages, and network errors of the database connection
 * ({@link markDatabaseError}). Network errors of other connections do not count. The causes of an error count like the error.
 */
export function isDatabaseUnavailable(error: unknown): boolean {
  return causes(error).some(saysUnavailable);
}

/**
 * SQLSTATE classes and codes by which a running database refuses a statement: out of disk, memory or connections; statement
 * timeout; starting; I/O errors; a read-only server.
 */
const REFUSED = ['53', '57014', '57P03', '58', '25006'];

/** True if the database itself refused the statement, so it certainly stored nothing. False if no answer came. */
export function isRefusedByDatabase(error: unknown): boolean {
  const state = causes(error)
    .map(sqlState)
    .find((one) => one !== null);
  return state !== undefined && state !== null && REFUSED.some((start) => state.startsWith(start));
}

/** An error and what led to it, the latest first. */
function causes(error: unknown): unknown[] {
  const found: unknown[] = [];
  for (let each = error; found.length < MOST_CAUSES && each !== undefined && each !== null; ) {
    found.push(each);
    each = (each as { cause?: unknown }).cause;
  }
  return found;
}

function saysUnavailable(error: unknown): boolean {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const state = sqlState(error);
  if (state !== null && UNAVAILABLE.some((start) => state.startsWith(start))) return true;
  if (typeof code === 'string' && NETWORK.has(code)) return isMarked(error);
  return typeof message === 'string' && DRIVER_MESSAGES.some((text) => message.startsWith(text));
}

/**
 * True if the statement itself probably failed ({@link STATEMENT_FAULTS}): the database still answers other queries. False
 * if that is unknown.
 */
export async function isStatementAtFault(error: unknown): Promise<boolean> {
  for (const one of causes(error)) {
    const state = sqlState(one);
    if (state === null || !STATEMENT_FAULTS.some((start) => state.startsWith(start))) continue;
    const check = (one as Record<symbol, unknown>)[MARK];
    if (typeof check !== 'function') continue;
    const answered = () => true;
    return (check as Check)().then(answered, () => false);
  }
  return false;
}

/** Rejects if the database that an error came from does not answer. */
type Check = () => Promise<unknown>;

const MARK = Symbol.for('ecf.database-error');

/** Marks an error as one of the database connection; `check` rejects if that database does not answer others. */
export function markDatabaseError(error: unknown, check?: Check): void {
  if (typeof error === 'object' && error !== null && !isMarked(error))
    Object.defineProperty(error, MARK, { value: check ?? true });
}

function isMarked(error: unknown): boolean {
  return (error as Record<symbol, unknown>)[MARK] !== undefined;
}

/** The disk is full, or the quota of this user. */
const FULL = new Set(['ENOSPC', 'EDQUOT', '53100']);

/** True if a file or the database could not be written because its disk is full. The causes of the error count too. */
export function isStorageFull(error: unknown): boolean {
  return causes(error).some((each) => FULL.has(String((each as { code?: unknown }).code)));
}
