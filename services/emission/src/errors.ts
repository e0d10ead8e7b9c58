import type { ErrorCode, ValidationItem } from '@ecf/contracts';
import type { Fault } from '@ecf/domain';

/** Error codes of this service. The contracts define their status and meaning. */
export type EmissionErrorCode = Extract<
  ErrorCode,
  | 'bad_request'
  | 'invalid_json'
  | 'invalid_batch'
  | 'idempotency_conflict'
  | 'idempotency_key_required'
  | 'range_exhausted'
  | 'range_expired'
  | 'not_utf8'
  | 'invalid_xml'
  | 'invalid_document'
  | 'document_too_costly'
  | 'wrong_endpoint'
  | 'invalid_token'
  | 'login_refused'
  | 'not_found'
  | 'taxpayer_not_found'
  | 'authority_timeout'
  | 'encf_already_used'
  | 'encf_cancelled'
  | 'encf_in_use'
  | 'service_not_in_environment'
  | 'conflict'
  | 'validation_error'
  | 'authority_unreadable'
  | 'authority_unreachable'
  | 'certificate_missing'
  | 'certificate_expired'
  | 'certificate_not_yet_valid'
  | 'certificate_unusable'
  | 'overloaded'
  | 'rate_limited'
  | 'service_unavailable'
>;

export interface EmissionErrorDetails {
  faults?: readonly Fault[];
  /** Items of a 422, instead of the message. */
  items?: readonly ValidationItem[];
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

/** A refused request. The message names the fault and the remedy. */
export class EmissionError extends Error {
  readonly faults: readonly Fault[];
  readonly items: readonly ValidationItem[] | null;
  readonly retryAfterSeconds: number | null;

  constructor(
    readonly code: EmissionErrorCode,
    message: string,
    details: EmissionErrorDetails = {},
  ) {
    super(message, { cause: details.cause });
    this.name = 'EmissionError';
    this.faults = details.faults ?? [];
    this.items = details.items ?? null;
    this.retryAfterSeconds = details.retryAfterSeconds ?? null;
  }
}

/** Rounds of a request that other requests overtake each time, before it is answered 503. */
export const MAX_ROUNDS = 10;

/** The answer to a request that gave up after {@link MAX_ROUNDS}. It issued no document, so repeating it is safe. */
export function overtaken(what: string): EmissionError {
  return new EmissionError(
    'overloaded',
    `${what} This request issued no document. Repeat it unchanged after Retry-After.`,
  );
}

/**
 * Ends the work for a caller that closed the connection. Never called between the commit of a document and the record of
 * its answer.
 */
export function requireCaller(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true)
    throw new EmissionError(
      'bad_request',
      'The caller closed the connection before its document was issued. No document was issued.',
    );
}

/** A 422 for one place of the request. */
export function invalidRequest(
  loc: readonly (string | number)[],
  msg: string,
  type: string,
  cause?: unknown,
): EmissionError {
  return new EmissionError('validation_error', `${loc.join('.')}: ${msg}`, {
    items: [{ loc: [...loc], msg, type }],
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The database is unavailable. The same request can succeed later. */
export class StoreUnavailable extends Error {
  /** @param refused the database itself refused every try, so it stored no part of the work */
  constructor(
    cause: unknown,
    readonly refused = false,
  ) {
    super(refused ? 'the database refuses to store' : 'the database cannot be reached', { cause });
    this.name = 'StoreUnavailable';
  }
}

/** The database became unavailable during a commit. The document may be stored, and is then sent like any other. */
export class CommitUnconfirmed extends StoreUnavailable {
  /** @param publicMessage explains to the caller how to find the outcome */
  constructor(
    readonly publicMessage: string,
    cause: unknown,
  ) {
    super(cause);
    this.name = 'CommitUnconfirmed';
  }
}

/**
 * Runs a commit before a send. If the database becomes unavailable meanwhile, it may be stored: the end of its lease and the look-up
 * settle it then.
 *
 * @throws CommitUnconfirmed with `publicMessage`
 */
export async function confirming<T>(publicMessage: string, commit: () => Promise<T>): Promise<T> {
  try {
    return await commit();
  } catch (error) {
    if (error instanceof StoreUnavailable && !error.refused) throw new CommitUnconfirmed(publicMessage, error);
    throw error;
  }
}

/**
 * Throws 400 `invalid_document` if there are warnings, for a caller that refuses them. No number is used.
 *
 * @param isBatchLine a batch keeps the outcome of its lines, so the document has to come in another batch
 */
export function refuseWarnings(warnings: readonly Fault[], isBatchLine: boolean): void {
  if (warnings.length === 0) return;
  const which = warnings.length === 1 ? 'a warning' : `${warnings.length} warnings`;
  const [what, how] = isBatchLine
    ? ['this batch', 'without the other lines, in a batch with another idempotency-key']
    : ['this request', 'again'];
  throw new EmissionError(
    'invalid_document',
    `The document has ${which} (${placesOf(warnings)}), and ${what} refuses warnings. Correct the fields named in faults and send it ${how}, or with warnings=accept if it is correct as it is.`,
    { faults: warnings },
  );
}

function placesOf(faults: readonly Fault[]): string {
  const places = faults.slice(0, 3).map(({ path }) => path);
  return `${places.join(', ')}${faults.length > places.length ? ` and ${faults.length - places.length} more` : ''}`;
}

/** Throws 400 `invalid_document` if there are faults. The authority would reject the document, so no number is used. */
export function refuseFaults(faults: readonly Fault[]): void {
  if (faults.length === 0) return;
  const remedy = faults.some(({ path }) => path.endsWith('.eNCF'))
    ? 'correct the fields named in faults and send it under an eNCF that you may use'
    : 'correct the fields named in faults and send it again, under the same eNCF if it states one';
  throw new EmissionError(
    'invalid_document',
    `The document has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`} (${placesOf(faults)}); ${remedy}.`,
    { faults },
  );
}
