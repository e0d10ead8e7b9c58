import { GatewayError, retryAfterOf } from './errors.js';

export interface RetryOptions {
  /** Sends a request; the `fetch` of the platform by default. */
  fetch: typeof fetch;
  /** Milliseconds until an attempt without an answer ends; 90,000 by default. */
  timeout: number;
  /** The same for `POST /batches`, which uploads up to 100 MiB; 30 minutes by default. */
  batchTimeout: number;
  /** How often a call is repeated. */
  maxRetries: number;
}

/** A longer Retry-After is not waited for: it is in the error. */
const LONGEST_PAUSE = 120;

/**
 * A `fetch` that repeats a call
 *
 * - after an answer with Retry-After, once that time has passed;
 * - after an attempt without an answer of the gateway (the connection failed or ended, it was too slow, a proxy answered 502, 503 or
 *   504 by itself), if a repeat cannot make a second document: a GET, or a call with an idempotency key. The pauses are 0.5 s, 1 s, 2 s ...
 *
 * Every other answer is final. The signal of the request also ends a pause.
 *
 * @throws GatewayError `no_answer` after the last attempt
 */
export function fetchWithRetries({ fetch, timeout, batchTimeout, maxRetries }: RetryOptions) {
  return async (request: Request): Promise<Response> => {
    const isRepeatable = request.method === 'GET' || request.headers.has('idempotency-key');
    const isBatch = request.method === 'POST' && new URL(request.url).pathname.endsWith('/batches');
    const limit = isBatch ? batchTimeout : timeout;
    for (let retry = 0; ; retry += 1) {
      const isLast = retry === maxRetries;
      // A body can be sent once.
      const sent = isLast || request.body === null ? request : request.clone();
      const outcome = await attempt(fetch, sent, request.signal, limit).catch((error) => {
        request.signal.throwIfAborted();
        return noAnswer(request, error);
      });
      const pause = retryAfterOf(outcome) ?? (isRepeatable && isNoAnswer(outcome) ? 0.5 * 2 ** retry : Infinity);
      if (isLast || pause > LONGEST_PAUSE) {
        if (outcome instanceof GatewayError) throw outcome;
        return outcome;
      }
      await sleep(pause, request.signal);
    }
  };
}

/** Whether the gateway did not answer; a proxy's own 502, 503 or 504 says so too. */
function isNoAnswer(outcome: Response | GatewayError): boolean {
  if (outcome instanceof GatewayError) return true;
  return [502, 503, 504].includes(outcome.status) && !/json/.test(outcome.headers.get('content-type') ?? '');
}

/** Sends a request once. The body of the answer is read, so that one that is cut off counts as no answer; CSV and NDJSON are streamed. */
async function attempt(fetch: RetryOptions['fetch'], request: Request, signal: AbortSignal, timeout: number) {
  signal.throwIfAborted();
  const controller = new AbortController();
  signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  const timer = setTimeout(() => controller.abort(new Error(`no answer within ${timeout} ms`)), timeout);
  try {
    const response = await fetch(request, { signal: controller.signal });
    if (response.body === null || /csv|ndjson/.test(response.headers.get('content-type') ?? '')) return response;
    const { status, statusText, headers } = response;
    return new Response(await response.arrayBuffer(), { status, statusText, headers });
  } finally {
    clearTimeout(timer);
  }
}

function noAnswer(
  { method, url }: Request,
  cause: Error & { cause?: Partial<Error> & { code?: string } },
): GatewayError {
  const reason = cause.cause?.message || cause.cause?.code || cause.message;
  return new GatewayError({
    status: 0,
    code: 'no_answer',
    message: `No answer from ${method} ${url}: ${reason}`,
    cause,
  });
}

/** Waits, in seconds. @throws the reason of the signal once it is aborted */
export function sleep(seconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      if (signal?.aborted) reject(signal.reason);
      else resolve();
    };
    const timer = setTimeout(end, seconds * 1_000);
    signal?.addEventListener('abort', end);
  });
}
