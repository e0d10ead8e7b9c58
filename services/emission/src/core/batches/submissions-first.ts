import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import { EmissionError } from '../errors.js';

/** Pauses between two steps of lines, by how long ago a caller waited for a submission of its own. Shortest first. */
const PAUSES = [
  { withinMs: 200, pauseMs: 10 },
  { withinMs: 10_000, pauseMs: 2 },
];
const RETRY_AFTER_SECONDS = 5;

export interface SubmissionsFirst {
  /**
   * Runs a single submission. While it runs, and for a while after, batches give way.
   * @throws EmissionError `overloaded` where as many as allowed are in flight
   */
  run<Answer>(submit: () => Promise<Answer>): Promise<Answer>;
  /** Resolves when a line of a batch may take its next step: at once, or in its turn while batches give way. */
  lineStep(): Promise<void>;
  /** Submissions in flight. */
  inFlight(): number;
}

/** Lets single submissions of this instance go before the lines of batches, which go on step by step. */
export function createSubmissionsFirst(clock: () => Date, most: number): SubmissionsFirst {
  const steps: (() => void)[] = [];
  let waiting = 0;
  let lastAnswer = Number.NEGATIVE_INFINITY;

  function pauseMs(): number {
    const since = waiting > 0 ? 0 : clock().getTime() - lastAnswer;
    return PAUSES.find(({ withinMs }) => since < withinMs)?.pauseMs ?? 0;
  }

  async function takeSteps(): Promise<void> {
    while (steps.length > 0) {
      const ms = pauseMs();
      await (ms === 0 ? nextTurn() : delay(ms));
      steps.shift()?.();
    }
  }

  return {
    async run(submit) {
      if (waiting >= most)
        throw new EmissionError(
          'overloaded',
          `This service already works on ${most} submissions; nothing was done with this one. Send it again shortly.`,
          { retryAfterSeconds: RETRY_AFTER_SECONDS },
        );
      waiting += 1;
      try {
        return await submit();
      } finally {
        waiting -= 1;
        lastAnswer = clock().getTime();
      }
    },
    async lineStep() {
      if (steps.length === 0 && pauseMs() === 0) return;
      await new Promise<void>((resolve) => {
        steps.push(resolve);
        if (steps.length === 1) void takeSteps();
      });
    },
    inFlight: () => waiting,
  };
}
