import type { CallLimit } from '../answers/answer.js';

/**
 * - `login_refused`: the authority refuses this certificate (signature, delegation). Another try does not help.
 * - `authority_unreachable`: no answer, a timeout, 5xx, a pause, or a temporary failure that it reported.
 * - `authority_unreadable`: an answer that its login service does not give.
 */
export type LoginErrorCode = 'login_refused' | 'authority_unreachable' | 'authority_unreadable';

export class LoginError extends Error {
  override readonly name = 'LoginError';
  readonly code: LoginErrorCode;
  readonly retryable: boolean;
  /** The authority's own words, where it gave any. */
  readonly reason: string | null;
  readonly retryAfterMs: number | null;
  /** The authority itself did not answer. Otherwise the cause may be this one certificate. */
  readonly isUnanswered: boolean;
  /** Whom the authority limits (status 429), if that is the cause. */
  readonly limit: CallLimit | null;

  constructor(
    code: LoginErrorCode,
    message: string,
    details: { reason?: string; retryAfterMs?: number; isUnanswered?: boolean; limit?: CallLimit } = {},
  ) {
    super(message);
    this.code = code;
    this.retryable = code !== 'login_refused';
    this.reason = details.reason ?? null;
    this.retryAfterMs = details.retryAfterMs ?? null;
    this.isUnanswered = details.isUnanswered ?? false;
    this.limit = details.limit ?? null;
  }
}
