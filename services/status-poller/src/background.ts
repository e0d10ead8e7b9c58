import { setTimeout as delay } from 'node:timers/promises';
import type { FollowUpOperations } from '@ecf/contracts';
import { retry, withinTrace } from '@ecf/kit';
import { createDueWork, type DueWork } from '@ecf/postgres/due-work';
import type { NextPoll, Observer, ReachCheckpoint, SubmissionStore } from './ports.js';
import { type QueryOutcome, type QueryResult, waitingEntry } from './query-result.js';
import { againDue, nextQueryAt, OVERDUE_MS, pollDelay, type Random, unansweredDelay } from './schedule.js';
import { type ClaimedPoll, isFinal, publishedSubmissions, type QueriedResult, withoutEntry } from './submission.js';

/** Submissions that fall due within these milliseconds share one claim. */
const GATHER_MS = 80;

/**
 * Queries the authority for every submission that is due, without end. The database keeps the rate of each environment, so
 * any number of instances share the work.
 */
export function createBackground({
  submissions,
  queryResult,
  observer,
  clock,
  random,
  firstQueryMs,
  ratePerSecond: rate,
  checkpoint,
  ...options
}: {
  readonly submissions: SubmissionStore;
  readonly queryResult: QueryResult;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly random: Random;
  /** Milliseconds from a submission to the first query. */
  readonly firstQueryMs: number;
  /** Queries a second to one environment, all instances together. */
  readonly ratePerSecond: number;
  readonly checkpoint: ReachCheckpoint;
  /** Queries in flight at the same time. */
  readonly concurrency: number;
  /** Longest pause in milliseconds between two queries of the database. */
  readonly idleMs: number;
  /** Milliseconds of a lease, after which another instance may claim the poll. */
  readonly leaseMs: number;
}): DueWork<ClaimedPoll> {
  /** Queries the result of one claimed submission and records the answer. */
  async function query(poll: ClaimedPoll): Promise<void> {
    const outcome = await queryResult(poll);
    await checkpoint('queried');
    const answer = outcome.outcome === 'result' ? outcome.result : null;
    const decided = answer !== null && isFinal(answer.facts);
    const next = decided ? null : nextPoll(poll, outcome, { now: clock(), random, firstQueryMs });
    const result = next !== null && answer === null ? resultWithoutAnswer(poll, outcome, next) : answer;
    const { submission, changed } = await submissions.record(poll, result, next);
    await checkpoint('recorded');
    if (changed) observer.changed(submission);
    if (decided && changed) observer.decided(poll, submission.facts);
    if (next?.alarmed === true && !poll.alarmed) observer.overdue(poll);
  }

  return createDueWork<ClaimedPoll>({
    ...options,
    store: {
      /** Due submissions of all environments, no faster than the rate of each allows. */
      async claimDue({ now, until, limit }) {
        const claimed: ClaimedPoll[] = [];
        for (const work of await submissions.dueWork(now, rate)) {
          const free = limit - claimed.length;
          if (free <= 0) break;
          if (work.dueAt === null || work.dueAt > now || nextQueryAt(work, rate) > now.getTime()) continue;
          claimed.push(...(await submissions.claimDue({ env: work.env, now, until, limit: free, rate })));
        }
        if (claimed.length > 0) await checkpoint('claimed');
        return claimed;
      },
      async nextDue() {
        const times = (await submissions.dueWork(clock(), rate)).flatMap((work) =>
          work.dueAt === null ? [] : [Math.max(work.dueAt.getTime(), nextQueryAt(work, rate))],
        );
        return times.length === 0 ? null : new Date(Math.min(...times));
      },
    },
    handle: (poll) => withinTrace(poll.traceparent, 'query the result', () => query(poll)),
    onError: (error, poll) => observer.failed(poll ? 'querying a result' : 'looking for due submissions', error, poll),
    clock,
    gatherMs: GATHER_MS,
  });
}

/**
 * The known result of a submission after a query without a result, with the entry that says why the submission still waits.
 * The outdated entry of an earlier query is removed. Null if the known result does not change.
 */
function resultWithoutAnswer(
  { facts, queriedAt, submittedAt }: ClaimedPoll,
  outcome: QueryOutcome,
  { dueAt }: NextPoll,
): QueriedResult | null {
  const messages = withoutEntry(facts.messages);
  if (outcome.outcome === 'unanswered') messages.push(waitingEntry(outcome, dueAt));
  else if (messages.length === facts.messages.length) return null;
  return { facts: { ...facts, messages }, queriedAt: queriedAt ?? submittedAt, raw: null };
}

/** When an undecided submission is queried again. */
export function nextPoll(
  poll: ClaimedPoll,
  outcome: QueryOutcome,
  { now, random, firstQueryMs }: { readonly now: Date; readonly random: Random; readonly firstQueryMs: number },
): NextPoll {
  const alarmed = poll.alarmed || now.getTime() - poll.submittedAt.getTime() > OVERDUE_MS;
  const next = (tries: number, failures: number, ms: number): NextPoll => ({
    claim: poll.claim,
    dueAt: new Date(now.getTime() + ms),
    tries,
    failures,
    alarmed,
  });
  if (outcome.outcome === 'unanswered') {
    // The query was not sent, because another one found the service down: the document's own pauses do not grow.
    if (!outcome.sent && outcome.pauseMs !== null) return next(poll.tries, poll.failures, outcome.pauseMs);
    const failures = poll.failures + 1;
    const ms = Math.max(unansweredDelay(failures, firstQueryMs, random), outcome.pauseMs ?? 0);
    return next(poll.tries, failures, ms);
  }
  const tries = poll.tries + 1;
  return next(tries, 0, pollDelay(tries, firstQueryMs, random));
}

/** Documents that emission names in one answer. */
const PAGE = 1_000;
const COMPARE_AGAIN_MS = 5_000;

/**
 * Compares the polls with what emission awaits: at the start, until it succeeds, and then from time to time. So the submissions from
 * before this service subscribed are queried, and events that were lost in either direction are repaired. Calls `onPoll` after it
 * added a poll.
 */
export function createComparison(
  {
    submissions,
    emission,
    observer,
    clock,
    random,
    compareEveryMs,
  }: {
    readonly submissions: Pick<SubmissionStore, 'compare'>;
    readonly emission: Pick<FollowUpOperations, 'pageOfUndecided'>;
    readonly observer: Observer;
    readonly clock: () => Date;
    readonly random: Random;
    /** Milliseconds from one comparison to the next, plus or minus a quarter. */
    readonly compareEveryMs: number;
  },
  onPoll: () => void,
): { start(): void; stop(): Promise<void> } {
  const stopping = new AbortController();
  const { signal } = stopping;
  let running: Promise<void> = Promise.resolve();

  async function compare(): Promise<void> {
    for (let after: number | null = 0; after !== null && !signal.aborted; ) {
      const page = await emission.pageOfUndecided({ after, limit: PAGE });
      const now = clock();
      const published = page.invoices.flatMap((invoice) => publishedSubmissions(invoice, now));
      // The event of a recent decision may not have reached emission yet.
      const before = new Date(now.getTime() - compareEveryMs);
      const dueAt = (submittedAt: Date) => againDue(submittedAt, now, random);
      if (await submissions.compare(published, { before, dueAt })) onPoll();
      after = page.next;
    }
  }

  async function run(): Promise<void> {
    const onFailure = (error: unknown) => observer.failed('comparing undecided submissions with emission', error);
    while (!signal.aborted) {
      await retry(compare, { firstMs: COMPARE_AGAIN_MS, longestMs: compareEveryMs, signal, onFailure });
      await delay(compareEveryMs * (0.75 + random() * 0.5), undefined, { signal });
    }
  }

  return {
    start() {
      // Only the end of the service rejects it.
      running = run().catch(() => undefined);
    },
    async stop() {
      stopping.abort();
      await running;
    },
  };
}
