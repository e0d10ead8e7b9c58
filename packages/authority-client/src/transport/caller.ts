import { type Environment, storableText, toIsoDominican } from '@ecf/domain';
import {
  type Answer,
  type CallLimit,
  isUnreached,
  RAW_BODY_LIMIT,
  type RawAnswer,
  type UnknownCause,
} from '../answers/answer.js';
import type { AnswerReader, Reading } from '../answers/answer-reader.js';
import { decodeBody, retryAfterMs } from '../answers/answer-text.js';
import { readAnswerValue } from '../answers/answer-value.js';
import { type AuthorityService, type Host, hostOf } from '../endpoints.js';
import { withoutCredentials, withoutTokens } from '../secrets.js';
import type { CallLimits, LimitedCall } from './call-limits.js';
import type { CallReport, OnCall, OperationName } from './call-report.js';
import type { CallResult, CircuitBreakers, Health } from './circuit-breakers.js';
import { type FilePart, multipartBody } from './multipart.js';
import type { FailedCall, OutgoingRequest, ReceivedAnswer, Transport } from './transport.js';

export interface CallRequest {
  operation: OperationName;
  service: AuthorityService | 'receiver';
  env: Environment | null;
  /** RNC of the taxpayer in whose name the call is made, if it is made for one. */
  taxpayer?: string | undefined;
  url: URL;
  /** Posted as multipart; without one the call is a GET. */
  file?: FilePart;
  /** Whole value of the header. */
  authorization?: string;
  /** Default `application/json`. */
  accept?: string;
  /** Default 1 MiB. */
  maxAnswerBytes?: number;
  /** Characters of the answer that are kept as it came. */
  maxRawCharacters?: number | undefined;
  /** The answer may carry a token, and a 401 is about the seed. */
  login?: boolean;
  /** A verdict that the reader finds counts whatever the status; default: only where a status leaves room for one. */
  anyStatus?: boolean;
  signal?: AbortSignal | undefined;
}

/** One call from the request to the answer that was read. Rejects only on programming errors. */
export type Caller = <V>(request: CallRequest, read: AnswerReader<V>) => Promise<Answer<V>>;

interface CallerParts {
  transport: Transport;
  circuits: CircuitBreakers | null;
  /** Null: Retry-After of a 429 is only reported. */
  limits?: CallLimits | null;
  clock: () => Date;
  onCall: OnCall | null;
  /** The end of an announced maintenance that has begun. */
  maintenanceUntil?: (env: Environment) => Date | null;
}

const MAX_ANSWER_BYTES = 1024 * 1024;

export function createCaller({
  transport,
  circuits,
  limits = null,
  clock,
  onCall,
  maintenanceUntil = () => null,
}: CallerParts): Caller {
  return async function caller<V>(request: CallRequest, read: AnswerReader<V>): Promise<Answer<V>> {
    const started = performance.now();
    const { answer, date } = await call(request, read);
    report(request, answer, { durationMs: performance.now() - started, date: readDate(date) });
    return answer;
  };

  async function call<V>(request: CallRequest, read: AnswerReader<V>): Promise<Dated<V>> {
    if (!isHeaderValue(request.authorization)) return undated({ outcome: 'unauthorized', raw: null });
    const { env, service, taxpayer = null } = request;
    if (env === null || limits === null) return callThroughCircuit(request, read);
    const call = { env, service, taxpayer };
    const paused = limits.pauseOf(call);
    if (paused !== null)
      return undated({ ...notCalled(limitedDetail(call, paused.limit), paused.ms), limit: paused.limit });
    const { answer, date } = await callThroughCircuit(request, read);
    if (answer.outcome !== 'unknown' || answer.cause !== 'rate_limited' || !answer.retryAfterMs)
      return { answer, date };
    const { limit, ms } = limits.limited(call, answer.retryAfterMs);
    return { answer: { ...answer, limit, retryAfterMs: ms }, date };
  }

  async function callThroughCircuit<V>(request: CallRequest, read: AnswerReader<V>): Promise<Dated<V>> {
    if (circuits === null) return (await send(request, read)).value;
    // Failures are those of a host. A pause that the authority asks for is that of a service, unless it limits calls (429).
    const { env, service } = request;
    const pausedMs = env === null ? 0 : circuits.waitMs(servicePeer(env, service));
    if (pausedMs > 0) return undated(circuitOpen(request, pausedMs));
    const result = await circuits.run(peerOf(request), () => send(request, read));
    if (!('value' in result)) return undated(circuitOpen(request, result.retryAfterMs));
    const { answer } = result.value;
    const isLimit = answer.outcome === 'unknown' && answer.cause === 'rate_limited';
    if (env !== null && !isLimit && answer.outcome !== 'refused' && 'retryAfterMs' in answer && answer.retryAfterMs)
      circuits.pause(servicePeer(env, service), answer.retryAfterMs);
    return result.value;
  }

  function circuitOpen({ env, service, url }: CallRequest, retryAfter: number): Answer<never> {
    const until = env && maintenanceUntil(env);
    const announced = until ? `; the authority announced maintenance until ${toIsoDominican(until)}` : '';
    return notCalled(
      env === null ? `${url.origin} gets no calls now` : `${service} in ${env} is paused${announced}`,
      retryAfter,
    );
  }

  async function send<V>(request: CallRequest, read: AnswerReader<V>): Promise<CallResult<Dated<V>>> {
    const result = await transport.send(outgoing(request));
    const value =
      result.kind === 'failed'
        ? undated<V>(failed(request, result))
        : {
            answer: readAnswer(request, result, read, retryAfterMs(result.retryAfter, clock())),
            date: result.date,
          };
    return { value, health: healthOf(request, value.answer), subject: subjectOf(request) };
  }

  function report(
    request: CallRequest,
    answer: Answer<unknown>,
    timing: Pick<CallReport, 'durationMs' | 'date'>,
  ): void {
    const { operation, service, env } = request;
    const cause = answer.outcome === 'unknown' ? answer.cause : answer.outcome === 'refused' ? answer.code : null;
    const status = answer.raw?.status ?? null;
    try {
      onCall?.({ operation, service, env, ...timing, outcome: answer.outcome, cause, status });
    } catch {
      // A failing observer must not turn a submitted document into an error.
    }
  }
}

/** An answer with the `Date` of its head; null if no answer came, or it has none. */
interface Dated<V> {
  readonly answer: Answer<V>;
  readonly date: string | null;
}

function undated<V>(answer: Answer<V>): Dated<V> {
  return { answer, date: null };
}

function readDate(header: string | null): Date | null {
  const time = header === null ? Number.NaN : Date.parse(header);
  return Number.isNaN(time) ? null : new Date(time);
}

function notCalled(detail: string, retryAfter: number): Extract<Answer<never>, { outcome: 'unknown' }> {
  return {
    outcome: 'unknown',
    cause: 'circuit_open',
    reachedAuthority: 'no',
    detail,
    retryAfterMs: retryAfter,
    raw: null,
  };
}

function limitedDetail({ env, service, taxpayer }: LimitedCall, limit: CallLimit): string {
  const whose = limit === 'service' ? '' : ` of ${taxpayer ?? 'this kind'}`;
  return `the authority limits the calls${whose} to ${service} in ${env} (status 429)`;
}

/** The peer of a circuit breaker: a host of the authority in one environment, or the host of a receiver. */
function peerOf({ env, service, url }: CallRequest): string {
  return env === null || service === 'receiver' ? url.origin : hostPeer(env, hostOf(service));
}

export function hostPeer(env: Environment, host: Host): string {
  return `${env}:${host}`;
}

function servicePeer(env: Environment, service: CallRequest['service']): string {
  return `${env}:${service}`;
}

/** The document that a call to the authority is about; null for a login. */
function subjectOf({ env, file, login, url }: CallRequest): string | null {
  return env === null || login ? null : (file?.filename ?? (url.search === '' ? null : url.search));
}

function outgoing(request: CallRequest): OutgoingRequest {
  const headers: Record<string, string> = { accept: request.accept ?? 'application/json' };
  if (request.authorization !== undefined) headers.authorization = request.authorization;
  const common = {
    url: request.url,
    maxAnswerBytes: request.maxAnswerBytes ?? MAX_ANSWER_BYTES,
    signal: request.signal,
  };
  if (!request.file) return { method: 'GET', headers, ...common };
  const { contentType, body } = multipartBody(request.file);
  headers['content-type'] = contentType;
  headers['content-length'] = String(body.length);
  return { method: 'POST', headers, body, ...common };
}

function failed(request: CallRequest, failure: FailedCall): Answer<never> {
  const detail = withoutCredentials(failure.detail, request.authorization);
  const { cause, reachedAuthority } = failure;
  if (cause === 'address_refused') return { outcome: 'refused', code: 'address_refused', reason: detail, raw: null };
  return { outcome: 'unknown', cause, reachedAuthority, detail, raw: null };
}

/** Applies the rules of every service; the operation's own reader reads what remains. */
function readAnswer<V>(
  request: CallRequest,
  received: ReceivedAnswer,
  read: AnswerReader<V>,
  pauseMs: number | null,
): Answer<V> {
  const { status, contentType, bytes } = received;
  const text = decodeBody(bytes, contentType);
  const raw = rawAnswer(request, received, text);
  const pause = pauseMs === null ? {} : { retryAfterMs: pauseMs };
  const unknown = (cause: UnknownCause, detail: string): Answer<never> => ({
    outcome: 'unknown',
    cause,
    reachedAuthority: 'maybe',
    detail,
    ...pause,
    raw,
  });
  const byStatus = (): Answer<never> | null => {
    if (status === 401 && !request.login) return { outcome: 'unauthorized', raw };
    if (status === 429) return unknown('rate_limited', 'status 429');
    if (status === 408) return unknown('timeout', 'status 408');
    if (status >= 500) return unknown('server_error', `status ${status}`);
    if (status >= 300 && status < 400) return unknown('redirect', `status ${status}, not followed`);
    return null;
  };
  const decided = byStatus();
  if (decided !== null && !request.anyStatus) return decided;

  let reading: Reading<V>;
  try {
    reading = read({ status, contentType, bytes, text, value: readAnswerValue(text) });
  } catch (error) {
    // The document may have been taken: an answer that breaks its reader must not break the caller too.
    if (decided !== null) return decided;
    return unknown('not_a_verdict', `unreadable: ${error instanceof Error ? error.message : 'unknown error'}`);
  }
  if (decided !== null && (reading === null || !('verdict' in reading))) return decided;
  if (reading === null) return unknown('not_a_verdict', `status ${status}, ${contentType ?? 'no content type'}`);
  if ('verdict' in reading) return { outcome: 'verdict', verdict: reading.verdict, ...pause, raw };
  if ('refused' in reading) return { outcome: 'refused', code: reading.refused, reason: reading.reason, raw };
  return unknown(reading.unknown, reading.detail);
}

function rawAnswer(request: CallRequest, received: ReceivedAnswer, text: string): RawAnswer {
  const limit = request.maxRawCharacters ?? RAW_BODY_LIMIT;
  const kept = withoutCredentials(text, request.authorization, limit);
  return {
    status: received.status,
    contentType: received.contentType,
    body: storableText(request.login ? withoutTokens(kept) : kept, limit),
    truncated: text.length > limit,
  };
}

const NEUTRAL_CAUSES: ReadonlySet<UnknownCause> = new Set(['rate_limited', 'redirect', 'too_large']);

/** A receiver's status may concern one of the buyers that share its host, so only its silence counts. */
function healthOf({ env }: CallRequest, answer: Answer<unknown>): Health {
  if (env === null && answer.raw !== null) return 'healthy';
  if (isUnreached(answer)) return 'failing';
  if (answer.raw === null || (answer.outcome === 'unknown' && NEUTRAL_CAUSES.has(answer.cause))) return 'neutral';
  return 'healthy';
}

/** A token from outside may have characters that a header cannot carry. */
function isHeaderValue(value: string | undefined): boolean {
  return value === undefined || /^[\x21-\x7e]+ [\x21-\x7e]+$/.test(value);
}
