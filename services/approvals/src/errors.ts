import type { ErrorCode, ValidationItem } from '@ecf/contracts';

/** Refusals of this service that have a public code of the same name. */
export type ApprovalsErrorCode = Extract<
  ErrorCode,
  | 'already_answered'
  | 'authority_unreachable'
  | 'certificate_expired'
  | 'certificate_missing'
  | 'certificate_not_yet_valid'
  | 'certificate_unusable'
  | 'invalid_provider_token'
  | 'login_refused'
  | 'not_found'
  | 'overloaded'
  | 'service_unavailable'
  | 'taxpayer_not_found'
>;

/** A refusal, with the code that the caller gets. */
export class ApprovalsError extends Error {
  override readonly name = 'ApprovalsError';
  readonly retryAfterSeconds: number | null;
  constructor(
    readonly code: ApprovalsErrorCode,
    message: string,
    options: { cause?: unknown; retryAfterSeconds?: number | undefined } = {},
  ) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.retryAfterSeconds = options.retryAfterSeconds ?? null;
  }
}

/** Fields of a request that are wrong or contradict the received document. */
export class FieldsRefused extends Error {
  override readonly name = 'FieldsRefused';
  constructor(readonly items: readonly ValidationItem[]) {
    super(items.map((item) => `${item.loc.join('.')}: ${item.msg}`).join('; '));
  }
}

/** Bytes that are not readable XML; `kind` says why (`xml.doctype`). */
export class UnreadableApproval extends Error {
  override readonly name = 'UnreadableApproval';
  constructor(
    readonly kind: string,
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The database refuses a value; another try cannot help. */
export class Unwritable extends Error {
  override readonly name = 'Unwritable';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
