import { createDueWork, type DueWork, type DueWorkStore } from '@ecf/service-kit/due-work';
import { withinTrace } from '@ecf/service-kit/telemetry/tracing';
import { nextQueryAt } from './pace.js';
import type { Learned, NextPoll, Ports } from './ports.js';
import { type QueryOutcome, queryResult, waitingEntry } from './query-result.js';
import { OVERDUE_MS, pollDelay, unansweredDelay } from './schedule.js';
import { type ClaimedPoll, isFinal, withoutEntry } from './submission.js';

export interface BackgroundOptions {
  /** Queries in flight at the same time. */
  readonly concurrency: number;
  /** Longest pause in milliseconds between two queries for due rows. */
  readonly idleMs: number;
}

/** Submissions that fall due within these milliseconds share one claim. */
const GATHER_MS = 80;

/**
 * Queries the authority for every submission that is due, without end. The database keeps the rate of each environment, so
 * any number of instances share the work.
 */
export function createBackground(ports: Ports, options: BackgroundOptions): DueWork<ClaimedPoll> {
  return createDueWork<ClaimedPoll>({
    ...options,
    store: pacedStore(ports),
    handle: (poll) => withinTrace(poll.traceparent, 'query the result', () => follow(ports, poll)),
    onError: (error, poll) =>
      ports.observer.failed(poll ? 'querying a result' : 'looking for due submissions', error, poll),
    clock: ports.clock,
    leaseMs: ports.settings.leaseMs,
    gatherMs: GATHER_MS,
  });
}

/** Due submissions of all environments, no faster than the rate of each allows. */
function pacedStore({
  submissions,
  settings,
  clock,
  checkpoint,
}: Pick<Ports, 'submissions' | 'settings' | 'clock' | 'checkpoint'>): DueWorkStore<ClaimedPoll> {
  const rate = settings.ratePerSecond;

  return {
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
      const moments = (await submissions.dueWork(clock(), rate)).flatMap((work) =>
        work.dueAt === null ? [] : [Math.max(work.dueAt.getTime(), nextQueryAt(work, rate))],
      );
      return moments.length === 0 ? null : new Date(Math.min(...moments));
    },
  };
}

/** Queries the result of one claimed submission and records the answer. */
export async function follow(ports: Ports, poll: ClaimedPoll): Promise<void> {
  const result = await queryResult(ports, poll);
  await ports.checkpoint('queried');
  const answer = result.outcome === 'learned' ? result.learned : null;
  const decided = answer !== null && isFinal(answer.facts);
  const next = decided ? null : nextPoll(ports, poll, result);
  const learned = next !== null && answer === null ? unlearned(poll, result, next) : answer;
  const { submission, changed } = await ports.submissions.record(poll, learned, next);
  await ports.checkpoint('recorded');
  if (changed) ports.observer.changed(submission);
  if (decided && changed) ports.observer.decided(poll, submission.facts);
  if (next?.alarmed === true && !poll.alarmed) ports.observer.overdue(poll);
}

/**
 * The known result of a submission after a query without a result, with the entry that says why the submission still waits.
 * The outdated entry of an earlier query is removed. Null if the known result does not change.
 */
function unlearned(
  { facts, queriedAt, submittedAt }: ClaimedPoll,
  result: QueryOutcome,
  { dueAt }: NextPoll,
): Learned | null {
  const messages = withoutEntry(facts.messages);
  if (result.outcome === 'unanswered') messages.push(waitingEntry(result, dueAt));
  else if (messages.length === facts.messages.length) return null;
  return { facts: { ...facts, messages }, queriedAt: queriedAt ?? submittedAt, raw: null };
}

/** When an undecided submission is queried again. */
export function nextPoll(
  { clock, random, settings }: Pick<Ports, 'clock' | 'random' | 'settings'>,
  poll: ClaimedPoll,
  result: QueryOutcome,
): NextPoll {
  const now = clock().getTime();
  const alarmed = poll.alarmed || now - poll.submittedAt.getTime() > OVERDUE_MS;
  const next = (tries: number, failures: number, ms: number): NextPoll => ({
    claim: poll.claim,
    dueAt: new Date(now + ms),
    tries,
    failures,
    alarmed,
  });
  if (result.outcome === 'unanswered') {
    // The query was not sent, because another one found the service down: the document's own pauses do not grow.
    if (!result.sent && result.pauseMs !== null) return next(poll.tries, poll.failures, result.pauseMs);
    const failures = poll.failures + 1;
    const ms = Math.max(unansweredDelay(failures, settings.firstQueryMs, random), result.pauseMs ?? 0);
    return next(poll.tries, failures, ms);
  }
  const tries = poll.tries + 1;
  return next(tries, 0, pollDelay(tries, settings.firstQueryMs, random));
}
