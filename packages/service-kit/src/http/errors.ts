import { ERROR_CODES, type ErrorCode, errorCodeEntry, type FaultBody, type ValidationItem } from '@ecf/contracts';

export interface ApiErrorOptions {
  /** One sentence per fault, beside `faults` (400 of the emission endpoints). */
  messages?: readonly string[];
  faults?: readonly FaultBody[];
  /** Headers of the answer; `Retry-After` is set from the code's entry where none is given. */
  headers?: Readonly<Record<string, string>>;
  cause?: unknown;
}

/** An answer other than success: status and code as in `ERROR_CODES`, and a sentence with the fault and the remedy. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: ErrorCode;
  readonly detail: string | readonly ValidationItem[];
  readonly messages: readonly string[] | undefined;
  readonly faults: readonly FaultBody[] | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    code: ErrorCode,
    detail: string | readonly ValidationItem[],
    options: ApiErrorOptions = {},
  ) {
    super(typeof detail === 'string' ? detail : detail.map((item) => `${item.loc.join('.')}: ${item.msg}`).join('; '), {
      cause: options.cause,
    });
    this.name = 'ApiError';
    const entry = errorCodeEntry(code);
    if (entry?.status !== status) throw new TypeError(`error code ${code} has status ${entry?.status}, not ${status}`);
    this.status = status;
    this.code = code;
    this.detail = detail;
    this.messages = options.messages;
    this.faults = options.faults;
    this.headers =
      entry.retryAfter === null
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

/** The one body of every error (`detail`, `code`, `request_id`; `messages` and `faults` where there are any). */
export function errorBody(error: ApiError, requestId: string): Record<string, unknown> {
  return {
    detail: error.detail,
    code: error.code,
    request_id: requestId,
    ...(error.messages === undefined ? {} : { messages: error.messages }),
    ...(error.faults === undefined ? {} : { faults: error.faults }),
  };
}

/** The rows of `GET /errors`. */
export function errorCatalogue(): {
  code: string;
  status: number;
  retry_after: number | null;
  meaning: string;
  remedy: string;
}[] {
  return Object.entries(ERROR_CODES).map(([code, entry]) => ({
    code,
    status: entry.status,
    retry_after: entry.retryAfter,
    meaning: entry.meaning,
    remedy: entry.remedy,
  }));
}
