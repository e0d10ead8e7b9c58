import { moment, recordTransition } from '../attempt/record-transition.js';
import { postponed } from '../attempt/transitions.js';
import type { Ports } from '../ports.js';
import type { FollowUp } from './follow-up.js';

export interface BackgroundOptions {
  /** Attempts worked on at the same time. */
  readonly concurrency: number;
  /** Milliseconds between looks at the database while nothing is due. */
  readonly idleMs: number;
  /** Milliseconds between signs of life of this instance; it is given up on after three of them. */
  readonly heartbeatMs: number;
}

export interface Background {
  start(): Promise<void>;
  /** Takes nothing new and waits for what is under way. */
  stop(): Promise<void>;
  /** Works on all that is due now; for tests. Resolves with how many attempts were advanced. */
  runOnce(): Promise<number>;
}

/**
 * Takes up every attempt that is due: lost sends, sends that could not be made, notes that were held, and what instances
 * that ended left behind. Rows are claimed with SKIP LOCKED, so instances share the work.
 */
export function createBackground(ports: Ports, followUp: FollowUp, options: BackgroundOptions): Background {
  const running = new Set<Promise<unknown>>();
  let stopped: Promise<void> | null = null;
  let stopping = false;
  let wake: () => void = () => undefined;
  let lastSign = 0;

  async function signOfLife(): Promise<void> {
    const now = ports.clock();
    const since = now.getTime() - lastSign;
    // A clock that was set back must not silence this instance until it is where it was.
    if (since >= 0 && since < options.heartbeatMs) return;
    lastSign = now.getTime();
    await ports.emissions.heartbeat(ports.owner, new Date(now.getTime() + 3 * options.heartbeatMs));
    await ports.emissions.releaseDead(now);
  }

  async function claim(limit: number) {
    const now = ports.clock();
    const until = new Date(now.getTime() + ports.settings.leaseMs);
    const claimed = await ports.emissions.claimDue({ now, until, owner: ports.owner, limit });
    if (claimed.length > 0) await ports.checkpoint('claimed');
    return claimed;
  }

  function work(attempt: Awaited<ReturnType<typeof claim>>[number]): Promise<unknown> {
    const task = followUp.advance(attempt).catch(async (error) => {
      ports.observer.failed('following up a document', error, attempt);
      await recordTransition(ports, attempt, (present) =>
        present.owner === ports.owner && present.revision === attempt.revision
          ? postponed(present, moment(ports))
          : null,
      ).catch(() => undefined);
    });
    running.add(task);
    task.finally(() => {
      running.delete(task);
      wake();
    });
    return task;
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      let free = options.concurrency - running.size;
      try {
        await signOfLife();
        while (free > 0 && !stopping) {
          const claimed = await claim(free);
          for (const attempt of claimed) work(attempt);
          if (claimed.length < free) break;
          free = options.concurrency - running.size;
        }
      } catch (error) {
        ports.observer.failed('looking for documents that are due', error);
      }
      if (!stopping) await pause();
    }
  }

  /** Ends early when half the slots are free while more may be waiting (one question for each would cost more), and when the service stops. */
  function pause(): Promise<void> {
    const full = running.size >= options.concurrency;
    const enough = options.concurrency >> 1;
    return new Promise((resolve) => {
      const timer = setTimeout(done, options.idleMs);
      function done() {
        clearTimeout(timer);
        wake = () => undefined;
        resolve();
      }
      wake = () => {
        if ((full && running.size <= enough) || stopping) done();
      };
    });
  }

  return {
    async start() {
      await signOfLife();
      stopped = loop();
    },
    async stop() {
      stopping = true;
      wake();
      await stopped;
      await Promise.allSettled(running);
    },
    async runOnce() {
      await signOfLife();
      const claimed = await claim(options.concurrency);
      await Promise.all(claimed.map(work));
      return claimed.length;
    },
  };
}
