import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { EmissionError } from '../errors.js';
import type { Ports } from '../ports.js';

/** How often lines take steps while batches give way. Those of one moment share their statements. */
const STEPS_EVERY_MS = 200;
/** Steps of one moment while a submission is worked on, and shortly after: its caller probably sends the next. */
const STEPS_BESIDE_CALLERS = 20;
const SHORTLY_MS = 200;
/** So long after the last submission batches go on without giving way. */
const GIVE_WAY_MS = 5_000;
const RETRY_AFTER_SECONDS = 5;

export interface SubmissionsFirst {
  /**
   * Runs a single submission. While it works, and for a while after, batches give way.
   * @throws EmissionError `overloaded` where as many as allowed are in flight
   */
  run<Answer>(submit: () => Promise<Answer>): Promise<Answer>;
  /** The sleep of a submission that waits for its verdict: batches go on meanwhile. */
  readonly sleep: Ports['sleep'];
  /** Resolves when a line of a batch may take its next step: at once, or in its turn while batches give way. */
  lineStep(): Promise<void>;
  /** Submissions in flight. */
  inFlight(): number;
}

/** Lets single submissions of this instance go before the lines of batches, which go on step by step. */
export function createSubmissionsFirst(
  { clock, sleep }: Pick<Ports, 'clock' | 'sleep'>,
  most: number,
): SubmissionsFirst {
  const steps: (() => void)[] = [];
  let inFlight = 0;
  let asleep = 0;
  let lastWork = Number.NEGATIVE_INFINITY;

  /** Whether a submission is worked on, or was in the last so many milliseconds. */
  const workWithin = (ms: number) => inFlight > asleep || clock().getTime() - lastWork < ms;

  async function takeSteps(): Promise<void> {
    while (steps.length > 0) {
      await (workWithin(GIVE_WAY_MS) ? delay(STEPS_EVERY_MS) : nextTurn());
      const count = workWithin(SHORTLY_MS) ? STEPS_BESIDE_CALLERS : steps.length;
      for (const step of steps.splice(0, count)) step();
    }
  }

  return {
    async run(submit) {
      if (inFlight >= most)
        throw new EmissionError(
          'overloaded',
          `This service already works on ${most} submissions; nothing was done with this one. Send it again shortly.`,
          { retryAfterSeconds: RETRY_AFTER_SECONDS },
        );
      inFlight += 1;
      try {
        return await submit();
      } finally {
        inFlight -= 1;
        lastWork = clock().getTime();
      }
    },
    async sleep(ms) {
      asleep += 1;
      lastWork = clock().getTime();
      await sleep(ms).finally(() => {
        asleep -= 1;
      });
    },
    async lineStep() {
      if (steps.length === 0 && !workWithin(GIVE_WAY_MS)) return;
      await new Promise<void>((resolve) => {
        steps.push(resolve);
        if (steps.length === 1) void takeSteps();
      });
    },
    inFlight: () => inFlight,
  };
}
