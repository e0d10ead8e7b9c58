import type { Answer } from '@ecf/authority-client';
import type { AuditAct } from '@ecf/contracts';
import { EMISSION_STATES } from '@ecf/domain';
import { StoreUnavailable } from '../errors.js';
import type { Attempt, NewAttempt } from './attempt.js';
import type { EmissionStore, Observer, RecordedExchange } from './ports.js';
import { presentState } from './submission-history.js';
import {
  applyTransition,
  beginAttempt,
  beginSend,
  type FollowUpSettings,
  later,
  type Random,
  type Timing,
} from './transitions.js';

type Decide = (present: Attempt) => Attempt | null;

/** Makes and stores the state transitions of attempts. */
export interface Recorder {
  /** The timing of a decision that is made now. */
  timing(): Timing;
  /** A new attempt, leased to this instance unless it is held or queued. It is not stored. */
  begin(
    fresh: NewAttempt,
    previous: Attempt | null,
    emissionId: number,
    options: { held: boolean; run: number; maintenanceUntil: Date | null; isKnown: boolean },
  ): Attempt;
  /**
   * Stores the transition that `decide` makes of the attempt. After a concurrent change it decides again. If `decide`
   * returns null, the attempt stays as it is. `act` is the action of a person. Resolves with the present state, or with
   * the end of the attempt if a later one took the number; the exchanges are stored in that case too.
   */
  record(
    attempt: Attempt,
    decide: Decide,
    exchanges?: readonly RecordedExchange[],
    act?: AuditAct | null,
  ): Promise<Attempt>;
  /**
   * Like `record`, for an answer that must not be lost. While the database is unavailable, the background repeats the write until
   * the process ends, and the caller continues with the attempt that will be stored.
   */
  recordAnswer(attempt: Attempt, decide: Decide, exchanges: readonly RecordedExchange[]): Promise<Attempt>;
  /** Leases an attempt to this instance for one step. After a concurrent change it stores no lease and returns null. */
  claim(attempt: Attempt): Promise<Attempt | null>;
  /** As `claim`, for a send that begins now. */
  claimSend(attempt: Attempt): Promise<Attempt | null>;
}

export function createRecorder({
  emissions,
  observer,
  clock,
  random,
  sleep,
  pending,
  owner,
  revisionAfterRestore,
  settings,
}: {
  readonly emissions: Pick<EmissionStore, 'find' | 'save' | 'keepExchanges'>;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly random: Random;
  readonly sleep: (ms: number) => Promise<void>;
  /** Receives the writes of answers that wait for the database. */
  readonly pending: Set<Promise<unknown>>;
  /** The name of this instance. */
  readonly owner: string;
  /** The revision after which new documents begin; 0 unless the database was restored. */
  readonly revisionAfterRestore: () => number;
  /** `leaseMs`: milliseconds for which an attempt is leased. */
  readonly settings: FollowUpSettings & { readonly leaseMs: number };
}): Recorder {
  const { leaseMs } = settings;
  const timing = () => ({ now: clock(), random, settings });

  function notify(before: Attempt, after: Attempt): void {
    if (EMISSION_STATES[after.state].decided && !EMISSION_STATES[before.state].decided) observer.decided(after);
    if (after.alarm !== null && after.alarm !== before.alarm) observer.alarm(after);
  }

  const record: Recorder['record'] = async (attempt, decide, exchanges = [], act = null) => {
    for (let present = attempt; ; ) {
      const after = decide(present);
      if (after === null) return present;
      if (await emissions.save(present, after, exchanges, act)) {
        notify(present, after);
        return after;
      }
      const found = await emissions.find(attempt);
      if (found?.attempt !== attempt.attempt) {
        if (exchanges.length > 0) await emissions.keepExchanges(attempt, exchanges);
        return presentState(present, found);
      }
      present = found;
    }
  };

  /** The revision decides, because the background of this process has the same owner. */
  async function tryRecord(before: Attempt, after: Attempt): Promise<Attempt | null> {
    if (!(await emissions.save(before, after, []))) return null;
    notify(before, after);
    return after;
  }

  async function recordWhenAvailable(attempt: Attempt, decide: Decide, exchanges: readonly RecordedExchange[]) {
    for (;;) {
      await sleep(1_000);
      try {
        return await record(attempt, decide, exchanges);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) return observer.failed('recording an answer', error, attempt);
      }
    }
  }

  return {
    timing,
    record,
    begin: (fresh, previous, emissionId, options) =>
      beginAttempt(fresh, previous, emissionId, timing(), {
        owner,
        leaseMs,
        revisionAfter: revisionAfterRestore(),
        ...options,
      }),
    async recordAnswer(attempt, decide, exchanges) {
      try {
        return await record(attempt, decide, exchanges);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        const recording = recordWhenAvailable(attempt, decide, exchanges);
        pending.add(recording);
        void recording.finally(() => pending.delete(recording));
        return decide(attempt) ?? attempt;
      }
    },
    claim: (attempt) =>
      tryRecord(attempt, applyTransition(attempt, null, { owner, nextActionAt: later(clock(), leaseMs) })),
    claimSend: (attempt) => tryRecord(attempt, beginSend(attempt, timing(), owner, leaseMs)),
  };
}

/** An answer of the authority as it is stored. */
export function exchange(operation: string, at: Date, answer: Answer<unknown>): RecordedExchange {
  const detail =
    answer.outcome === 'unknown' ? `:${answer.cause}` : answer.outcome === 'refused' ? `:${answer.code}` : '';
  return {
    operation,
    at,
    outcome: `${answer.outcome}${detail}`,
    httpStatus: answer.raw?.status ?? null,
    contentType: answer.raw?.contentType ?? null,
    body: answer.raw?.body ?? null,
  };
}

/** Reports an answer that names another document. Such an answer does not change the attempt. */
export function reportOtherDocument(
  observer: Pick<Observer, 'mismatchedAnswer'>,
  answer: Answer<unknown> | null,
  attempt: Attempt,
): void {
  if (answer?.outcome === 'unknown' && answer.cause === 'another_document')
    observer.mismatchedAnswer(attempt, answer.detail);
}
