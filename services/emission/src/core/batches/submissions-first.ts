import { EmissionError } from '../errors.js';

/** Lines that an instance takes up at one look while a caller waits for a submission of its own. */
const LINES_BESIDE_SUBMISSIONS = 3;
/** A caller that just got an answer probably sends its next submission. */
const QUIET_AFTER_MS = 1_000;
const RETRY_AFTER_SECONDS = 5;

export interface SubmissionsFirst {
  /**
   * Runs a single submission. While it runs, and for a second after, batches give way.
   * @throws EmissionError `overloaded` where as many as allowed are in flight
   */
  run<Answer>(submit: () => Promise<Answer>): Promise<Answer>;
  /** The most lines of one look at the store. */
  mostLines(): number;
  /** Submissions in flight. */
  inFlight(): number;
}

/** Lets single submissions of this instance go before the lines of batches, which go on slowly. */
export function createSubmissionsFirst(clock: () => Date, most: number): SubmissionsFirst {
  let waiting = 0;
  let lastAnswer = Number.NEGATIVE_INFINITY;
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
    mostLines: () =>
      waiting > 0 || clock().getTime() - lastAnswer < QUIET_AFTER_MS
        ? LINES_BESIDE_SUBMISSIONS
        : Number.POSITIVE_INFINITY,
    inFlight: () => waiting,
  };
}
