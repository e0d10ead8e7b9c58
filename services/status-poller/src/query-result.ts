import type { Answer, AuthorityVerdict, CallLimit } from '@ecf/authority-client';
import { type AuthorityMessage, waitingMessage } from '@ecf/domain';
import type { Learned, Ports } from './ports.js';
import { factsOf, type Submission } from './submission.js';

/** The outcome of a query for a result. */
export type QueryOutcome =
  | { readonly outcome: 'learned'; readonly learned: Learned }
  /** The authority refuses the certificate, or a fresh token twice. */
  | { readonly outcome: 'login_refused'; readonly detail: string; readonly error: unknown }
  /** A person has to act before a query can succeed: no usable certificate, no delegation. */
  | { readonly outcome: 'refused'; readonly reason: string; readonly detail: string }
  /** The query brought no result. `pauseMs`: the pause that the authority requests. */
  | {
      readonly outcome: 'unanswered';
      readonly cause: string;
      readonly pauseMs: number | null;
      /** Whom the authority limits (status 429), if that is the cause of the pause. */
      readonly limit: CallLimit | null;
      readonly sent: boolean;
      /** An answer arrived, but it contains no decision. */
      readonly answered: boolean;
    };

type QueryPorts = Pick<Ports, 'submissions' | 'authority' | 'tokens' | 'clock' | 'observer'>;

/**
 * Queries the result of a submission. All queries to its environment keep the pause that the authority requests, unless the
 * authority limits this taxpayer alone: then the client makes no call for it.
 */
export async function queryResult(
  ports: QueryPorts,
  submission: Submission,
  signal?: AbortSignal,
): Promise<QueryOutcome> {
  const result = await queryWithToken(ports, submission, signal);
  const { env } = submission;
  ports.observer.queried(env, outcomeWord(result));
  if (result.outcome === 'unanswered' && result.pauseMs !== null && result.limit !== 'taxpayer') {
    const until = new Date(ports.clock().getTime() + result.pauseMs);
    await ports.submissions.pause(env, until);
    ports.observer.paused(env, until);
  }
  return result;
}

/** A token that the authority refuses is replaced once. */
async function queryWithToken(ports: QueryPorts, submission: Submission, signal?: AbortSignal): Promise<QueryOutcome> {
  const { env, trackId, issuerRnc, encf } = submission;
  let refused: string | null = null;
  for (;;) {
    let token: string;
    try {
      token = await within(ports.tokens(submission, refused), signal);
    } catch (error) {
      return withoutToken(error);
    }
    const queriedAt = ports.clock();
    const answer = await ports.authority.queryResult({ env, token, trackId, issuerRnc, encf, signal });
    if (answer.outcome === 'unknown' && answer.cause === 'another_document')
      ports.observer.mismatchedAnswer(submission, answer.detail);
    if (answer.outcome !== 'unauthorized') return outcomeOf(answer, queriedAt);
    if (refused !== null) {
      const detail = 'The authority refuses tokens that it has just issued.';
      return { outcome: 'login_refused', detail, error: null };
    }
    refused = token;
  }
}

function outcomeOf(
  answer: Exclude<Answer<AuthorityVerdict>, { outcome: 'unauthorized' }>,
  queriedAt: Date,
): QueryOutcome {
  switch (answer.outcome) {
    case 'verdict':
      return { outcome: 'learned', learned: { facts: factsOf(answer.verdict), queriedAt, raw: answer.raw } };
    case 'refused':
      return { outcome: 'refused', reason: answer.code, detail: answer.reason };
    case 'unknown':
      return {
        outcome: 'unanswered',
        cause: answer.cause,
        pauseMs: answer.retryAfterMs ?? null,
        limit: answer.limit ?? null,
        sent: answer.cause !== 'circuit_open',
        answered: answer.raw !== null,
      };
  }
}

/** The entry of the gateway for a submission whose query brought no result. */
export function waitingEntry({ limit, answered }: Unanswered, nextTryAt: Date): AuthorityMessage {
  const cause = limit !== null ? (`${limit}-limited` as const) : answered ? 'odd-answer' : 'no-answer';
  return waitingMessage(cause, nextTryAt);
}

type Unanswered = Extract<QueryOutcome, { outcome: 'unanswered' }>;

const UNUSABLE = new Set([
  'certificate_missing',
  'certificate_expired',
  'certificate_not_yet_valid',
  'certificate_unusable',
  'taxpayer_not_found',
  'not_found',
]);

/** Emission refuses with the public codes. */
function withoutToken(error: unknown): QueryOutcome {
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  const detail = String(message ?? error);
  if (code === 'login_refused') return { outcome: 'login_refused', detail, error };
  if (typeof code === 'string' && UNUSABLE.has(code)) return { outcome: 'refused', reason: code, detail };
  return { outcome: 'unanswered', cause: 'no_token', pauseMs: null, limit: null, sent: false, answered: false };
}

/** The outcome under which metrics count a query. */
function outcomeWord(result: QueryOutcome): string {
  switch (result.outcome) {
    case 'learned':
      return result.learned.facts.status;
    case 'unanswered':
      return result.cause;
    case 'refused':
      return result.reason;
    case 'login_refused':
      return 'login_refused';
  }
}

/** Rejects when the signal ends the call. */
function within<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  return new Promise((resolve, reject) => {
    const end = () => reject(signal.reason);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', end));
  });
}
