import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';
import type { Caller } from '@ecf/taxpayer-replica';
import { EmissionError } from '../errors.js';
import type { Ports } from '../ports.js';

/** While batches give way, so many lines take a step at a moment, and share its statements. */
const STEPS_AT_ONCE = 4;
const STEPS_EVERY_MS = 50;
/** So long after the last submission batches go on without giving way. */
const GIVE_WAY_MS = 5_000;
const RETRY_AFTER_SECONDS = 5;
/** One account fills a quarter, so three others can still submit. */
const ACCOUNT_SHARE = 1 / 4;
/** Part of its account's share that one API key fills. By default 200 parallel calls of a key fit. */
const KEY_SHARE = 4 / 5;

export interface SubmissionsFirst {
  /**
   * Runs a single submission of an account. While it works, and for a while after, batches give way.
   * @throws EmissionError `overloaded` if as many as allowed are in flight, `rate_limited` if those of the account or key are
   */
  run<Answer>(caller: Pick<Caller, 'accountId' | 'keyId'>, submit: () => Promise<Answer>): Promise<Answer>;
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
  const ofCallers = new Map<string, number>();
  const mostOfAccount = Math.ceil(most * ACCOUNT_SHARE);
  const mostOfKey = Math.ceil(most * ACCOUNT_SHARE * KEY_SHARE);
  let inFlight = 0;
  let asleep = 0;
  let lastWork = Number.NEGATIVE_INFINITY;

  /** Whether a submission is worked on, or was shortly before: its caller probably sends the next. The clock may be set back. */
  const givingWay = () => inFlight > asleep || Math.abs(clock().getTime() - lastWork) < GIVE_WAY_MS;

  async function takeSteps(): Promise<void> {
    while (steps.length > 0) {
      await (givingWay() ? delay(STEPS_EVERY_MS) : nextTurn());
      for (const step of steps.splice(0, givingWay() ? STEPS_AT_ONCE : steps.length)) step();
    }
  }

  function checkShare(id: string, mostOfCaller: number, kind: string): void {
    if ((ofCallers.get(id) ?? 0) < mostOfCaller) return;
    throw new EmissionError(
      'rate_limited',
      `This service already works on ${mostOfCaller} submissions of this ${kind}, so this one was not processed. Send it again after Retry-After, or send a batch.`,
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  }

  function count(id: string, change: number): void {
    const now = (ofCallers.get(id) ?? 0) + change;
    if (now > 0) ofCallers.set(id, now);
    else ofCallers.delete(id);
  }

  return {
    async run({ accountId, keyId }, submit) {
      if (inFlight >= most)
        throw new EmissionError(
          'overloaded',
          `This service already works on ${most} submissions, so this one was not processed. Send it again after Retry-After.`,
          { retryAfterSeconds: RETRY_AFTER_SECONDS },
        );
      checkShare(accountId, mostOfAccount, 'account');
      if (keyId !== undefined) checkShare(keyId, mostOfKey, 'API key');
      inFlight += 1;
      count(accountId, 1);
      if (keyId !== undefined) count(keyId, 1);
      try {
        return await submit();
      } finally {
        inFlight -= 1;
        count(accountId, -1);
        if (keyId !== undefined) count(keyId, -1);
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
      if (steps.length === 0 && !givingWay()) return;
      await new Promise<void>((resolve) => {
        steps.push(resolve);
        if (steps.length === 1) void takeSteps();
      });
    },
    inFlight: () => inFlight,
  };
}
