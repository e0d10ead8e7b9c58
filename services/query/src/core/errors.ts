import type { ErrorCode } from '@ecf/contracts';

/** Codes this service answers with; their status and meaning stand in the contracts' table. */
export type QueryErrorCode = Extract<
  ErrorCode,
  | 'ambiguous_encf'
  | 'authority_unreachable'
  | 'authority_unreadable'
  | 'certificate_missing'
  | 'conflict'
  | 'not_found'
  | 'service_not_in_environment'
  | 'service_unavailable'
  | 'status_key_missing'
  | 'taxpayer_not_found'
>;

/** A question that has no answer. The message says why and what to do. */
export class QueryError extends Error {
  override readonly name = 'QueryError';
  /** Seconds after which a repeat may do better; null = as the code's entry says. */
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

/** Nothing is known here, and who would know could not be asked: that is no "not found". */
export function mayExist(what: string): QueryError {
  return new QueryError('service_unavailable', `It cannot be said at present ${what}; repeat shortly.`);
}
