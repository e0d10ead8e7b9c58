import type { ErrorCode } from '@ecf/contracts';

/** Error codes of this service; the table of the contracts gives their status and meaning. */
export type StatusErrorCode = Extract<ErrorCode, 'not_found' | 'login_refused'>;

/** A status request that has no status for its answer. */
export class StatusError extends Error {
  constructor(
    readonly code: StatusErrorCode,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'StatusError';
  }
}
