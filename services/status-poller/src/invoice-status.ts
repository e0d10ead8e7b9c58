import { type ErrorCode, type FollowUpOperations, type InvoiceStatusResponse, mayActFor } from '@ecf/contracts';
import { type AuthorityMessage, codeOfStatus, type Environment, toIsoDominican } from '@ecf/domain';
import type { Observer, SubmissionStore } from './ports.js';
import { type QueryOutcome, type QueryResult, waitingEntry } from './query-result.js';
import { publishedSubmissions, type Submission, withoutEntry } from './submission.js';

/** A request that is refused; the table of the contracts gives the status of the code. */
export class StatusError extends Error {
  constructor(
    readonly code: Extract<ErrorCode, 'not_found' | 'login_refused'>,
    message: string,
    options: { cause?: unknown } = {},
  ) {
    super(message, options);
    this.name = 'StatusError';
  }
}

export type InvoiceStatusQuery = (request: {
  accountId: string;
  /** RNCs that the key of the call is limited to; absent = all of the account. */
  taxpayers?: readonly string[] | undefined;
  env: Environment;
  trackId: string;
}) => Promise<InvoiceStatusResponse>;

/**
 * `GET /invoice-status/{track_id}`: answers a decided state from the store. For any other it queries the authority within a short
 * budget, and otherwise answers the last known state. Simultaneous callers of one trackId share a query.
 */
export function createInvoiceStatus(
  {
    submissions,
    emission,
    queryResult,
    observer,
    clock,
    ratePerSecond: rate,
    answerBudgetMs,
    freshMs,
  }: {
    readonly submissions: SubmissionStore;
    readonly emission: Pick<FollowUpOperations, 'findSubmission'>;
    readonly queryResult: QueryResult;
    readonly observer: Observer;
    readonly clock: () => Date;
    /** Queries a second to one environment, all instances together. */
    readonly ratePerSecond: number;
    /** Milliseconds that a call waits for the authority. */
    readonly answerBudgetMs: number;
    /** An answer of the authority that is younger than these milliseconds is given again without a query. */
    readonly freshMs: number;
  },
  onPoll: () => void,
): InvoiceStatusQuery {
  const inFlight = new Map<string, Promise<KnownResult>>();

  return async ({ accountId, taxpayers, env, trackId }) => {
    const known = await knownSubmission(env, trackId);
    if (known === null || known.accountId !== accountId || !mayActFor({ taxpayers }, known.issuerRnc)) {
      throw new StatusError('not_found', `No submission of this account has the trackId ${trackId} in ${env}.`);
    }
    return answer(isCurrent(known) ? { submission: known, entry: null } : await shared(known));
  };

  /** Emission stores a submission before it answers its caller, but the event of a recent submission may be late. */
  async function knownSubmission(env: Environment, trackId: string): Promise<Submission | null> {
    const known = await submissions.find({ env, trackId });
    if (known !== null) return known;
    const { invoice } = await emission.findSubmission({ env, track_id: trackId });
    if (invoice === null) return null;
    const change = { eventId: null, submissions: publishedSubmissions(invoice, clock()) };
    if (await submissions.apply([change])) onPoll();
    return submissions.find({ env, trackId });
  }

  function isCurrent({ final, queriedAt }: Submission): boolean {
    if (final || queriedAt === null) return final;
    // A wrong clock may have stored a time in the future.
    return Math.abs(clock().getTime() - queriedAt.getTime()) < freshMs;
  }

  function shared(known: Submission): Promise<KnownResult> {
    const key = `${known.env}:${known.trackId}`;
    const present = inFlight.get(key);
    if (present !== undefined) return present;
    const promise = queryNow(known).finally(() => inFlight.delete(key));
    inFlight.set(key, promise);
    return promise;
  }

  async function queryNow(known: Submission): Promise<KnownResult> {
    const { env } = known;
    if (!(await submissions.reserveQuery({ env, now: clock(), rate }))) return { submission: known, entry: null };
    return keep(known, await queryResult(known, AbortSignal.timeout(answerBudgetMs)));
  }

  /** The background queries next, unless the authority requests a pause of this call. */
  async function entryOf(
    known: Submission,
    outcome: Extract<QueryOutcome, { outcome: 'unanswered' }>,
  ): Promise<AuthorityMessage | null> {
    const { limit, pauseMs } = outcome;
    const pausedUntil = limit === null || pauseMs === null ? null : new Date(clock().getTime() + pauseMs);
    const nextTryAt = pausedUntil ?? (await submissions.nextQueryAt(known));
    return nextTryAt === null ? null : waitingEntry(outcome, nextTryAt);
  }

  async function keep(known: Submission, outcome: QueryOutcome): Promise<KnownResult> {
    switch (outcome.outcome) {
      case 'result': {
        const { submission, changed } = await submissions.record(known, outcome.result, null);
        if (changed) observer.changed(submission);
        return { submission, entry: null };
      }
      case 'login_refused':
        throw new StatusError('login_refused', `The authority refuses the login: ${outcome.detail}`, {
          cause: outcome.error,
        });
      case 'unanswered':
        return { submission: known, entry: await entryOf(known, outcome) };
      case 'refused':
        return { submission: known, entry: null };
    }
  }
}

/** The known result of a submission, and the entry of the gateway if the query brought no result. */
interface KnownResult {
  readonly submission: Submission;
  readonly entry: AuthorityMessage | null;
}

function answer({ submission, entry }: KnownResult): InvoiceStatusResponse {
  const { trackId, encf, issuerRnc, facts, submittedAt } = submission;
  return {
    track_id: trackId,
    encf,
    status: facts.status,
    code: facts.code ?? codeOfStatus(facts.status),
    rnc: issuerRnc,
    date_received: facts.dateReceived ?? toIsoDominican(submittedAt),
    messages: entry === null ? [...facts.messages] : [...withoutEntry(facts.messages), entry],
  };
}
