/** The outcome of a call, one of four. Failures of the network and the authority are outcomes, never exceptions. */

/** The answer as it came, kept for the audit trail. Tokens and keys are blotted out. */
export interface RawAnswer {
  status: number;
  contentType: string | null;
  /** Decoded text, at most `RAW_BODY_LIMIT` characters. */
  body: string;
  truncated: boolean;
}

export const RAW_BODY_LIMIT = 65_536;

/** Why the outcome is unknown. */
export type UnknownCause =
  /** No connection: refused, reset, name not resolved, TLS failure, cut in the middle of an answer. */
  | 'connection'
  /** Our time limit passed (connect, response, total), or the authority said 408. */
  | 'timeout'
  /** The caller's signal ended the call, a timeout signal included. */
  | 'aborted'
  /** An answer came that carries no verdict: HTML, an empty body, other JSON. */
  | 'not_a_verdict'
  /** The answer names another document than the query. */
  | 'another_document'
  /** Status 5xx, or a 400 whose text names a temporary failure inside the authority. */
  | 'server_error'
  /** Status 429. */
  | 'rate_limited'
  /** Status 3xx: never followed. */
  | 'redirect'
  /** The answer is larger than the operation allows. */
  | 'too_large'
  /** Not sent: the service failed repeatedly or requested a pause (Retry-After). */
  | 'circuit_open';

/**
 * Whom the authority limits (status 429): the taxpayer in whose name the call is made, or every caller of the service in
 * the environment.
 */
export type CallLimit = 'taxpayer' | 'service';

/** Definite answers other than a verdict on a document. */
export type RefusalCode =
  /** The authority does not have that service in that environment (contract section 1.1). The call was not sent. */
  | 'service_not_in_environment'
  /** Seed or signature refused for good: signature, certificate, delegation. */
  | 'login_refused'
  /** A query that the authority will not answer: a parameter missing, no delegation. */
  | 'query_refused'
  /** A receiver's address that the address guard, or the https rule, does not allow. The call was not sent. */
  | 'address_refused';

/**
 * - `verdict`: the service answered in its own shape.
 * - `unauthorized`: status 401; the document was not accepted. `raw` is null if the token could not even be sent.
 * - `unknown`: never to be read as a rejection. `reachedAuthority` is `no` only where no request byte can have arrived.
 * - `refused`: a definite answer that decides about the call, not about a document.
 */
export type Answer<V> =
  | {
      outcome: 'verdict';
      verdict: V;
      /** Pause in milliseconds that the answer requests (Retry-After), verdict or not. */
      retryAfterMs?: number;
      raw: RawAnswer;
    }
  | { outcome: 'unauthorized'; raw: RawAnswer | null }
  | {
      outcome: 'unknown';
      cause: UnknownCause;
      reachedAuthority: 'no' | 'maybe';
      /** One line for logs, without secrets. */
      detail: string;
      /** Pause in milliseconds that the authority (Retry-After) or the circuit breaker requests. */
      retryAfterMs?: number;
      /** Set for status 429 with a pause, and for calls that are not made while that pause lasts. */
      limit?: CallLimit;
      raw: RawAnswer | null;
    }
  | { outcome: 'refused'; code: RefusalCode; reason: string; raw: RawAnswer | null };

/** Whether the authority could not be reached: no connection, a timeout, or a status with which a proxy says so (502 to 504). */
export function isUnreached(answer: Answer<unknown>): boolean {
  if (answer.outcome !== 'unknown') return false;
  const status = answer.raw?.status ?? 0;
  return answer.cause === 'connection' || answer.cause === 'timeout' || (status >= 502 && status <= 504);
}

/**
 * Whether the authority itself did not answer: it could not be reached, or the call was not made. A call that is not made
 * because the authority limits its taxpayer does not count: the authority answers others.
 */
export function isUnanswered(answer: Answer<unknown>): boolean {
  if (answer.outcome !== 'unknown' || answer.limit === 'taxpayer') return false;
  return answer.raw === null || isUnreached(answer);
}

const UNUSABLE: readonly UnknownCause[] = ['not_a_verdict', 'another_document', 'redirect', 'too_large'];

/** Whether an answer came that cannot be used. */
export function isUnusable(answer: Answer<unknown>): boolean {
  return answer.outcome === 'unknown' && UNUSABLE.includes(answer.cause);
}

/** A pause in whole seconds, at least one, as Retry-After states it. */
export function retryAfterSeconds(ms: number | null | undefined): number | undefined {
  return ms === null || ms === undefined ? undefined : Math.max(1, Math.ceil(ms / 1_000));
}

export type Outcome = Answer<unknown>['outcome'];
