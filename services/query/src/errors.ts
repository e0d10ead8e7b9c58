import type { ErrorCode } from '@ecf/contracts';

/** Error codes of this service; the table of the contracts gives their status and meaning. */
export type QueryErrorCode = Extract<
  ErrorCode,
  | 'ambiguous_encf'
  | 'authority_unreachable'
  | 'authority_unreadable'
  | 'certificate_missing'
  | 'conflict'
  | 'event_expired'
  | 'not_found'
  | 'not_printable'
  | 'rate_limited'
  | 'service_not_in_environment'
  | 'service_unavailable'
  | 'status_key_missing'
  | 'taxpayer_not_found'
  | 'unknown_event'
>;

/** A request without an answer. The message gives the reason and the remedy. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  /** Seconds after which a repeat may succeed; null = as the code's entry says. */
  readonly retryAfterSeconds: number | null;

  constructor(
    readonly code: QueryErrorCode,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message, { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** The read model does not have the object and its owner did not answer, so "not found" would be a guess. */
export function mayExist(subject: string): QueryError {
  return new QueryError('service_unavailable', `It is currently unknown ${subject}; repeat shortly.`);
}
