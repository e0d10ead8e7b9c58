import type { ErrorCode } from '@ecf/contracts';

/** Codes this service answers with; their status and meaning stand in the contracts' table. */
export type StatusErrorCode = Extract<ErrorCode, 'not_found' | 'login_refused'>;

/** A question for a status that cannot be answered with one. */
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
