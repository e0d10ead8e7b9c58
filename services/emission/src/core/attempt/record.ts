import type { Answer } from '@ecf/authority-client';
import { EMISSION_STATES } from '@ecf/domain';
import { StoreUnavailable } from '../errors.js';
import type { Ports, RecordedExchange } from '../ports.js';
import type { Attempt } from './attempt.js';
import type { Moment } from './moves.js';
import { asFound } from './past-submissions.js';

type RecordPorts = Pick<Ports, 'emissions' | 'observer' | 'sleep'>;

export function moment(ports: Pick<Ports, 'clock' | 'random' | 'settings'>): Moment {
  return { now: ports.clock(), random: ports.random, settings: ports.settings };
}

/**
 * Stores what `decide` makes of the attempt. When another change came between, it decides again on the present state;
 * null leaves that as it is. Resolves with the attempt as it stands then, or as it ended before a later one came under its
 * number.
 */
export async function record(
  ports: RecordPorts,
  attempt: Attempt,
  decide: (present: Attempt) => Attempt | null,
  exchanges: readonly RecordedExchange[] = [],
): Promise<Attempt> {
  for (let present = attempt; ; ) {
    const after = decide(present);
    if (after === null) return present;
    if (await ports.emissions.save(present, after, exchanges)) {
      tell(ports, present, after);
      return after;
    }
    const found = await ports.emissions.find(attempt);
    if (found?.attempt !== attempt.attempt) return asFound(present, found);
    present = found;
  }
}

/**
 * Stores a change that only one may make. Null, and nothing stored, when another change came between: whoever gets the
 * attempt back is the one who made it.
 */
export async function recordOnce(
  ports: Pick<Ports, 'emissions' | 'observer'>,
  before: Attempt,
  after: Attempt,
): Promise<Attempt | null> {
  if (!(await ports.emissions.save(before, after, []))) return null;
  tell(ports, before, after);
  return after;
}

/**
 * The same as {@link record} for an answer that must not be lost: while the database is away it is tried again until this process ends, and
 * the caller goes on with what will be stored.
 */
export async function recordSurely(
  ports: RecordPorts,
  attempt: Attempt,
  decide: (present: Attempt) => Attempt | null,
  exchanges: readonly RecordedExchange[],
  pending: Set<Promise<unknown>>,
): Promise<Attempt> {
  try {
    return await record(ports, attempt, decide, exchanges);
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    const later = (async () => {
      for (;;) {
        await ports.sleep(1_000);
        try {
          return await record(ports, attempt, decide, exchanges);
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

/** An answer of the authority in the form it is kept. */
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

function tell({ observer }: Pick<Ports, 'observer'>, before: Attempt, after: Attempt): void {
  if (EMISSION_STATES[after.state].decided && !EMISSION_STATES[before.state].decided) observer.decided(after);
  if (after.alarm !== null && after.alarm !== before.alarm) observer.alarm(after);
}
