import { retryDelay, storableText } from '@ecf/domain';
import { retry } from '@ecf/kit';
import { Unwritable } from '../errors.js';
import type { Claimed, Ending } from './outgoing.js';
import type { FailureReport } from './ports.js';
import { nextLookUp, obeyedPause } from './retry-times.js';

/** When the next try follows. */
export interface RetryRules {
  /** Pause after the first failed send. */
  readonly firstRetryMs: number;
  readonly clock: () => Date;
  readonly random: () => number;
}

const LONGEST_ERROR = 1_000;
const NEUTRAL = { dueAt: null, error: null, sentAt: null, host: null, needsCertificate: false } as const;

/** An ending with nothing left to do, unless the fields say otherwise. */
export function endingWith(fields: Pick<Ending, 'status' | 'outcome'> & Partial<Ending>): Ending {
  return { ...NEUTRAL, health: 'neutral', pauseMs: 0, ...fields };
}

/** The next try follows after a pause. A try that would come after the deadline is the end: `failed`. */
export function later(
  item: Claimed,
  rules: RetryRules,
  detail: string,
  fields: Pick<Ending, 'status' | 'outcome'> & Partial<Ending>,
): Ending {
  const now = rules.clock();
  const tries = Math.max(item.tries, 1);
  const asked = fields.pauseMs ?? 0;
  const pauseMs = item.deadlineAt === null ? asked : obeyedPause(asked, tries, now, item.deadlineAt);
  const next = new Date(now.getTime() + Math.max(retryDelay(tries, rules.firstRetryMs, rules.random), pauseMs));
  const ending = endingWith({ ...fields, pauseMs, error: storableText(detail, LONGEST_ERROR) });
  if (item.deadlineAt !== null && next > item.deadlineAt) return { ...ending, status: 'failed' };
  return { ...ending, dueAt: next };
}

/** The directory lists no receiver: it is queried again after hours, up to the deadline. */
export function withoutReceiver(item: Claimed, { clock, random }: RetryRules, error: string | null): Ending {
  const dueAt = nextLookUp(Math.max(item.tries, 1), clock(), item.deadlineAt ?? clock(), random);
  return endingWith({ status: 'no_receiver', outcome: 'no_receiver', dueAt, error });
}

/**
 * Records how a send ended. If it brought an answer, recording it is repeated until the database is back or the service
 * stops. If the database refuses a value permanently, the answer is omitted and the document is sent again later.
 */
export async function recordEnding<E extends Ending, R>(
  conclude: (ending: E) => Promise<R>,
  ending: E,
  parts: {
    readonly answered: boolean;
    readonly key: Claimed['key'];
    /** The ending that is recorded instead of one that the database refuses. */
    readonly unwritable: (detail: string) => E;
    readonly report: FailureReport;
    readonly stopping: AbortSignal;
  },
): Promise<{ ending: E; result: R }> {
  const { report, key, stopping: signal } = parts;
  const onFailure = (error: unknown) => {
    if (!parts.answered || error instanceof Unwritable) throw error;
    report.failed('recording an answer (it is tried again)', error, key);
  };
  try {
    return {
      ending,
      result: await retry(() => conclude(ending), { firstMs: 250, longestMs: 4_000, onFailure, signal }),
    };
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    report.failed('recording how a send ended', error, key);
    const again = parts.unwritable(`The result cannot be recorded: ${error.message}`);
    return { ending: again, result: await conclude(again) };
  }
}
