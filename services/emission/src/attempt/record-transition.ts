import type { Answer } from '@ecf/authority-client';
import type { AuditAct } from '@ecf/contracts';
import { EMISSION_STATES } from '@ecf/domain';
import { StoreUnavailable } from '../errors.js';
import type { Observer, Ports, RecordedExchange } from '../ports.js';
import type { Attempt } from './attempt.js';
import { asFound } from './submission-history.js';
import { applyTransition, type Moment } from './transitions.js';

type MomentPorts = Pick<Ports, 'clock' | 'random' | 'settings'>;
type RecordPorts = Pick<Ports, 'emissions' | 'observer' | 'sleep'>;
/** The ports of {@link recordTransition} and {@link moment}. */
export type TransitionPorts = RecordPorts & MomentPorts;
/** The ports of {@link recordAnswer} and {@link moment}. */
export type AnswerPorts = TransitionPorts & Pick<Ports, 'pending'>;

export function moment(ports: MomentPorts): Moment {
  return { now: ports.clock(), random: ports.random, settings: ports.settings };
}

/**
 * Stores the transition that `decide` makes of the attempt. After a concurrent change it decides again; null stores
 * nothing. `act` is what a person did. Resolves with the present state, or with the end of the attempt if a later one
 * took the number; the exchanges are kept then too.
 */
export async function recordTransition(
  ports: RecordPorts,
  attempt: Attempt,
  decide: (present: Attempt) => Attempt | null,
  exchanges: readonly RecordedExchange[] = [],
  act: AuditAct | null = null,
): Promise<Attempt> {
  for (let present = attempt; ; ) {
    const after = decide(present);
    if (after === null) return present;
    if (await ports.emissions.save(present, after, exchanges, act)) {
      notify(ports, present, after);
      return after;
    }
    const found = await ports.emissions.find(attempt);
    if (found?.attempt !== attempt.attempt) {
      if (exchanges.length > 0) await ports.emissions.keepExchanges(attempt, exchanges);
      return asFound(present, found);
    }
    present = found;
  }
}

/** Stores a transition that only one caller may make. Null after a concurrent change, and nothing is stored. */
export async function tryTransition(
  ports: Pick<Ports, 'emissions' | 'observer'>,
  before: Attempt,
  after: Attempt,
): Promise<Attempt | null> {
  if (!(await ports.emissions.save(before, after, []))) return null;
  notify(ports, before, after);
  return after;
}

/**
 * Like {@link recordTransition}, for an answer that must not be lost. While the database is unavailable, the
 * background repeats the write until the process ends, and the caller continues with the attempt that will be stored.
 */
export async function recordAnswer(
  ports: RecordPorts & Pick<Ports, 'pending'>,
  attempt: Attempt,
  decide: (present: Attempt) => Attempt | null,
  exchanges: readonly RecordedExchange[],
): Promise<Attempt> {
  const { pending } = ports;
  try {
    return await recordTransition(ports, attempt, decide, exchanges);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const later = (async () => {
      for (;;) {
        await ports.sleep(1_000);
        try {
          return await recordTransition(ports, attempt, decide, exchanges);
        } catch (again) {
          if (!(again instanceof StoreUnavailable)) return ports.observer.failed('recording an answer', again, attempt);
        }
      }
    })();
    pending.add(later);
    later.finally(() => pending.delete(later));
    return decide(attempt) ?? attempt;
  }
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

function notify({ observer }: Pick<Ports, 'observer'>, before: Attempt, after: Attempt): void {
  if (EMISSION_STATES[after.state].decided && !EMISSION_STATES[before.state].decided) observer.decided(after);
  if (after.alarm !== null && after.alarm !== before.alarm) observer.alarm(after);
}

/**
 * Leases an attempt for one step. Null if it changed since it was read. The revision decides, because the background
 * of this process has the same owner.
 */
export function claim(
  ports: Pick<Ports, 'emissions' | 'observer' | 'clock' | 'owner' | 'settings'>,
  attempt: Attempt,
): Promise<Attempt | null> {
  const until = new Date(ports.clock().getTime() + ports.settings.leaseMs);
  return tryTransition(ports, attempt, applyTransition(attempt, null, { owner: ports.owner, nextActionAt: until }));
}

/** Reports an answer that names another document: it changes nothing. */
export function reportOtherDocument(
  { observer }: { readonly observer: Pick<Observer, 'mismatchedAnswer'> },
  answer: Answer<unknown> | null,
  attempt: Attempt,
): void {
  if (answer?.outcome === 'unknown' && answer.cause === 'another_document')
    observer.mismatchedAnswer(attempt, answer.detail);
}
