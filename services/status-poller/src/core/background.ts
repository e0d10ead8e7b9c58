import type { Environment } from '@ecf/domain';
import { withinTrace } from '@ecf/service-kit/telemetry';
import { type Asked, askAuthority } from './ask-authority.js';
import { nextTurn } from './pace.js';
import type { DueWork, NextPoll, Ports } from './ports.js';
import { OVERDUE_MS, pollDelay, retryDelay } from './schedule.js';
import { type ClaimedPoll, isFinal } from './submission.js';

export interface BackgroundOptions {
  /** Questions under way at the same time. */
  readonly concurrency: number;
  /** Milliseconds between looks at the database while nothing is due. */
  readonly idleMs: number;
}

export interface Background {
  start(): void;
  /** Looks for due polls soon. */
  wake(): void;
  /** Takes nothing new and waits for what is under way. */
  stop(): Promise<void>;
}

/** What becomes due within it is claimed by one look. */
const GATHER_MS = 80;

/**
 * Asks for every submission that is due, without end. Polls are claimed with SKIP LOCKED under a lease, and the rate of an
 * environment is kept in the database, so any number of instances share the work.
 */
export function createBackground(ports: Ports, options: BackgroundOptions): Background {
  const running = new Set<Promise<void>>();
  let stopped: Promise<void> | null = null;
  let stopping = false;
  let endPause: () => void = () => undefined;
  let woken = false;

  async function loop(): Promise<void> {
    while (!stopping) {
      let pauseMs = options.idleMs;
      woken = false;
      try {
        const work = await ports.submissions.dueWork();
        const due = running.size >= options.concurrency ? [] : work.filter(mayBeAsked);
        for (const { env } of due) await take(env);
        pauseMs = due.length > 0 ? 0 : pauseBefore(work);
      } catch (error) {
        ports.observer.failed('looking for due submissions', error);
      }
      if (!stopping) await pause(GATHER_MS);
      if (!stopping && !woken) await pause(pauseMs - GATHER_MS);
    }
  }

  function mayBeAsked(work: DueWork): boolean {
    const now = ports.clock();
    return work.dueAt !== null && work.dueAt <= now && nextTurn(work, ports.settings.ratePerSecond) <= now.getTime();
  }

  async function take(env: Environment): Promise<void> {
    const limit = options.concurrency - running.size;
    if (limit <= 0 || stopping) return;
    const now = ports.clock();
    const { leaseMs, ratePerSecond: rate } = ports.settings;
    const until = new Date(now.getTime() + leaseMs);
    const claimed = await ports.submissions.claimDue({ env, now, until, limit, rate });
    if (claimed.length > 0) await ports.checkpoint('claimed');
    for (const poll of claimed) run(poll);
  }

  function run(poll: ClaimedPoll): void {
    const asking = withinTrace(poll.traceparent, 'ask for the result', () => follow(ports, poll));
    const task = asking.catch((error) => ports.observer.failed('asking for a result', error, poll));
    running.add(task);
    task.finally(() => {
      // A slot is free again: whoever waited for one looks for work.
      if (running.size >= options.concurrency) wake();
      running.delete(task);
    });
  }

  function pauseBefore(work: readonly DueWork[]): number {
    if (running.size >= options.concurrency) return options.idleMs;
    const now = ports.clock().getTime();
    const moments = work.flatMap((one) =>
      one.dueAt === null ? [] : [Math.max(one.dueAt.getTime(), nextTurn(one, ports.settings.ratePerSecond))],
    );
    return Math.max(0, Math.min(options.idleMs, Math.min(...moments) - now));
  }

  /** A pause no longer than the one for gathering is ended by nothing but a stop. */
  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        endPause = () => undefined;
        resolve();
      }
      endPause = () => {
        if (stopping || ms > GATHER_MS) done();
      };
    });
  }

  function wake(): void {
    woken = true;
    endPause();
  }

  return {
    start() {
      stopped = loop();
    },
    wake,
    async stop() {
      stopping = true;
      wake();
      await stopped;
      await Promise.allSettled(running);
    },
  };
}

/** Asks for one claimed submission and keeps what came of it. */
export async function follow(ports: Ports, poll: ClaimedPoll): Promise<void> {
  const asked = await askAuthority(ports, poll);
  await ports.checkpoint('asked');
  const learned = asked.outcome === 'learned' ? asked.learned : null;
  ports.observer.asked(poll.env, outcomeWord(asked));
  if (asked.outcome === 'unanswered' && asked.pauseMs !== null) {
    const until = new Date(ports.clock().getTime() + asked.pauseMs);
    await ports.submissions.pause(poll.env, until);
    ports.observer.paused(poll.env, until);
  }
  const decided = learned !== null && isFinal(learned.facts);
  const next = decided ? null : nextPoll(ports, poll, asked);
  const { submission, changed } = await ports.submissions.record(poll, learned, next);
  await ports.checkpoint('recorded');
  if (changed) ports.observer.changed(submission);
  if (decided && changed) ports.observer.decided(poll, submission.facts);
  if (next?.alarmed === true && !poll.alarmed) ports.observer.overdue(poll);
}

/** When a submission that is still open is asked for again. */
export function nextPoll(
  { clock, random, settings }: Pick<Ports, 'clock' | 'random' | 'settings'>,
  poll: ClaimedPoll,
  asked: Asked,
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
  if (asked.outcome === 'unanswered') {
    // Not sent because others found the service down: this document's own pauses do not grow for that.
    if (!asked.sent && asked.pauseMs !== null) return next(poll.tries, poll.failures, asked.pauseMs);
    const failures = poll.failures + 1;
    const ms = Math.max(retryDelay(failures, settings.firstQueryMs, random), asked.pauseMs ?? 0);
    return next(poll.tries, failures, ms);
  }
  const tries = poll.tries + 1;
  return next(tries, 0, pollDelay(tries, settings.firstQueryMs, random));
}

/** The word that a question is counted under. */
export function outcomeWord(asked: Asked): string {
  switch (asked.outcome) {
    case 'learned':
      return asked.learned.facts.status;
    case 'unanswered':
      return asked.cause;
    case 'refused':
      return asked.reason;
    case 'login_refused':
      return 'login_refused';
  }
}
