import {
  ERROR_CODES,
  type ErrorCode,
  type ErrorCodeEntry,
  type ErrorDetail,
  type ErrorEntry,
  errorCodeEntry,
  errorMessage,
  type FaultBody,
  type ValidationItem,
} from '@ecf/contracts';

export interface ApiErrorOptions {
  /** The faults of a document. */
  faults?: readonly FaultBody[];
  /** Headers of the answer; `Retry-After` is set from the code's entry where none is given. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** An answer other than success: status and code as in `ERROR_CODES`, and a sentence with the fault and the remedy. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: ErrorDetail;
  readonly faults: readonly FaultBody[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(status: number, code: ErrorCode, detail: ErrorDetail, options: ApiErrorOptions = {}) {
    super(errorMessage(detail), { cause: options.cause });
    this.name = 'ApiError';
    const entry = errorCodeEntry(code);
    if (entry?.status !== status) throw new TypeError(`error code ${code} has status ${entry?.status}, not ${status}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.faults = options.faults ?? [];
    this.headers =
      entry.retryAfter === undefined
        ? (options.headers ?? {})
        : { 'retry-after': String(entry.retryAfter), ...options.headers };
  }
}

/** 422: what is missing or malformed, item by item; `loc` is `[place, name, ...]` with place header, query, path or body. */
export class InvalidRequest extends ApiError {
  constructor(items: readonly ValidationItem[], options: ApiErrorOptions & { code?: ErrorCode } = {}) {
    super(422, options.code ?? 'validation_error', items, options);
    this.name = 'InvalidRequest';
  }
}

/** The rows of `GET /errors`. */
export function errorCatalogue(): ErrorEntry[] {
  return Object.entries<ErrorCodeEntry>(ERROR_CODES).map(([code, { status, retryAfter = null, meaning, remedy }]) => ({
    code,
    status,
    retry_after: retryAfter,
    meaning,
    remedy,
  }));
}
