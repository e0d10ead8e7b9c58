import type { ErrorBody, Fault, ValidationItem } from './types.js';

/** What is known about a call that failed. */
interface Failure {
  status: number;
  code: string;
  message: string;
  body?: unknown;
  requestId?: string | undefined;
  retryAfter?: number | undefined;
  cause?: unknown;
}

/** Every error of this package: an answer of the gateway or of a proxy before it, a call without an answer, a webhook that is not genuine. */
export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /**
   * Stable name of the error, as `GET /errors` lists them. In addition: `no_answer` (the connection failed, ended or was too slow),
   * `unknown_answer` (the body is not the gateway's, for example a page of a proxy) and `invalid_webhook`.
   */
  readonly code: string;
  /** The faults of a document; empty for other errors. */
  readonly faults: readonly Fault[];
  /** The places of the request that are missing or malformed (422); empty for other errors. */
  readonly items: readonly ValidationItem[];
  /** Names the request in the logs of the gateway. */
  readonly requestId: string | undefined;
  /** Seconds after which the same call may succeed; undefined if a repeat alone does not help. */
  readonly retryAfter: number | undefined;
  /** The body as it arrived: parsed JSON, else text. */
  readonly body: unknown;

  constructor({ status, code, message, body, requestId, retryAfter, cause }: Failure) {
    super(message, { cause });
    const { faults, items } = (isObject(body) ? body : {}) as Partial<ErrorBody>;
    this.status = status;
    this.code = code;
    this.faults = Array.isArray(faults) ? faults : [];
    this.items = Array.isArray(items) ? items : [];
    this.requestId = requestId;
    this.retryAfter = retryAfter;
    this.body = body;
  }

  /** Whether the same call may succeed later without a change: there was no answer of the gateway, or it carried `Retry-After`. */
  get isTemporary(): boolean {
    return this.retryAfter !== undefined || this.code === 'no_answer' || isProxyFailure(this.status, this.code);
  }
}

/** A proxy's own 502, 503 or 504 says that it got no answer of the gateway. */
function isProxyFailure(status: number, code: string): boolean {
  return code === 'unknown_answer' && [502, 503, 504].includes(status);
}

/**
 * The error that an answer describes.
 *
 * @param body parsed JSON, or text if it is not JSON
 */
export function errorOf(response: Response, body: unknown): GatewayError {
  const { status, headers } = response;
  const { code, message, detail, request_id } = (isObject(body) ? body : {}) as Partial<ErrorBody>;
  const failure = { status, body, requestId: request_id ?? headers.get('x-request-id') ?? undefined };
  const retryAfter = retryAfterOf(response);
  const text = message ?? detail;
  if (typeof code === 'string' && typeof text === 'string')
    return new GatewayError({ ...failure, code, message: text, retryAfter });
  const type = headers.get('content-type') ?? 'no content type';
  const target = headers.get('location');
  return new GatewayError({
    ...failure,
    code: 'unknown_answer',
    message: `The answer is not the gateway's: status ${status}, ${type}${target ? `, redirects to ${target}` : ''}. ${firstWords(body)}`,
    retryAfter,
  });
}

/** Seconds of `Retry-After`, which may also be a date; undefined if it is missing or unreadable, or the call succeeded. */
export function retryAfterOf(response: Response | GatewayError): number | undefined {
  if (response instanceof GatewayError) return response.retryAfter;
  const value = response.headers.get('retry-after');
  if (response.ok || value === null) return undefined;
  const seconds = /^\d+$/.test(value) ? Number(value) : (Date.parse(value) - Date.now()) / 1_000;
  return Number.isNaN(seconds) ? undefined : Math.max(0, seconds);
}

/** The beginning of a body as text for people. Of HTML, the title is enough. */
function firstWords(body: unknown): string {
  const text = (typeof body === 'string' ? body : (JSON.stringify(body) ?? '')).slice(0, 4_000);
  const title = /<title>([^<]*)/i.exec(text)?.[1];
  const words = (title ?? text.replace(/<[^<>]*>/g, ' ')).replace(/\s+/g, ' ').trim();
  return words === '' ? 'It has no text.' : `It begins: ${words.slice(0, 200)}`;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
