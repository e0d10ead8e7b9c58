import type { Answer, AuthorityClient, AuthorityVerdict, CallLimit } from '@ecf/authority-client';
import type { FollowUpOperations } from '@ecf/contracts';
import { type AuthorityMessage, waitingMessage } from '@ecf/domain';
import { LRUCache } from 'lru-cache';
import type { Observer, SubmissionStore } from './ports.js';
import { factsOf, type QueriedResult, type Submission } from './submission.js';

/** The outcome of a query for a result. */
export type QueryOutcome =
  | { readonly outcome: 'result'; readonly result: QueriedResult }
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

/** Queries the result of a submission. The query ends when `signal` is aborted. */
export type QueryResult = (submission: Submission, signal?: AbortSignal) => Promise<QueryOutcome>;

/**
 * All queries to an environment keep the pause that the authority requests, unless the authority limits this taxpayer alone:
 * then the client makes no call for it. A token that the authority refuses is replaced once.
 */
export function createQueryResult({
  submissions,
  authority,
  tokens,
  observer,
  clock,
}: {
  readonly submissions: Pick<SubmissionStore, 'pause'>;
  readonly authority: Pick<AuthorityClient, 'queryResult'>;
  readonly tokens: QueryTokens;
  readonly observer: Observer;
  readonly clock: () => Date;
}): QueryResult {
  return async (submission, signal) => {
    const outcome = await queryWithToken(submission, signal);
    const { env } = submission;
    observer.queried(env, outcomeWord(outcome));
    if (outcome.outcome === 'unanswered' && outcome.pauseMs !== null && outcome.limit !== 'taxpayer') {
      const until = new Date(clock().getTime() + outcome.pauseMs);
      await submissions.pause(env, until);
      observer.paused(env, until);
    }
    return outcome;
  };

  async function queryWithToken(submission: Submission, signal?: AbortSignal): Promise<QueryOutcome> {
    const { env, trackId, issuerRnc, encf } = submission;
    let refused: string | null = null;
    for (;;) {
      let token: string;
      try {
        token = await within(tokens(submission, refused), signal);
      } catch (error) {
        return withoutToken(error);
      }
      const queriedAt = clock();
      const answer = await authority.queryResult({ env, token, trackId, issuerRnc, encf, signal });
      if (answer.outcome === 'unknown' && answer.cause === 'another_document')
        observer.mismatchedAnswer(submission, answer.detail);
      if (answer.outcome !== 'unauthorized') return outcomeOf(answer, queriedAt);
      if (refused !== null) {
        const detail = 'The authority refuses tokens that it has just issued.';
        return { outcome: 'login_refused', detail, error: null };
      }
      refused = token;
    }
  }
}

function outcomeOf(
  answer: Exclude<Answer<AuthorityVerdict>, { outcome: 'unauthorized' }>,
  queriedAt: Date,
): QueryOutcome {
  switch (answer.outcome) {
    case 'verdict':
      return { outcome: 'result', result: { facts: factsOf(answer.verdict), queriedAt, raw: answer.raw } };
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
function outcomeWord(outcome: QueryOutcome): string {
  switch (outcome.outcome) {
    case 'result':
      return outcome.result.facts.status;
    case 'unanswered':
      return outcome.cause;
    case 'refused':
      return outcome.reason;
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

/** Milliseconds for which a token serves further queries. Emission gives out only tokens with two minutes left or more. */
const KEPT_MS = 60_000;
const MOST_TOKENS = 10_000;

/**
 * A token for a query about the submission. `refused` is a token that the authority answered with 401.
 *
 * @throws ApiError as emission answers, e.g. `certificate_missing`
 */
export type QueryTokens = (submission: Submission, refused: string | null) => Promise<string>;

/** Tokens from emission. One serves the submissions of a taxpayer and account for a minute. */
export function createQueryTokens(emission: Pick<FollowUpOperations, 'documentToken'>): QueryTokens {
  const kept = new LRUCache<string, string>({ max: MOST_TOKENS, ttl: KEPT_MS });
  return async ({ env, accountId, issuerRnc, encf, trackId }, refused) => {
    const key = `${env}:${accountId}:${issuerRnc}`;
    const known = kept.get(key);
    if (known !== undefined && known !== refused) return known;
    const { token } = await emission.documentToken({ env, issuer_rnc: issuerRnc, encf, track_id: trackId, refused });
    kept.set(key, token);
    return token;
  };
}
