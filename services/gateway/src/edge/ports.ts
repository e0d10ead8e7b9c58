/** A part of a list. */
export interface Page {
  limit: number;
  offset: number;
}

/** Bounds the requests of a caller. */
export interface RateLimit {
  /**
   * Counts a request; rejects with 429 `rate_limited` and Retry-After if it exceeds the limit. Resolves with the headers that
   * tell the caller what is left; none without a limit.
   */
  pass(caller: string): Promise<Readonly<Record<string, string>>>;
}

/** Bounds the failed sign-ins of a caller. */
export interface FailureLimit {
  /** Rejects with 429 `rate_limited` while the caller has failed too often. */
  check(caller: string): Promise<void>;
  /** Counts a failure; rejects with 429 if it exceeds the limit. */
  failed(caller: string): Promise<void>;
}
