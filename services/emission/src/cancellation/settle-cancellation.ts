import { type ActedBy, actOf } from '@ecf/contracts';
import { toIsoDominican } from '@ecf/domain';
import { common, describe, type NumberRange, without } from '@ecf/domain/number-set';
import { EmissionError, invalidRequest } from '../errors.js';
import { type Cancellation, type CancellationProgress, rangesOf } from './cancellation.js';
import type { CancellationObserver, CancellationStore } from './ports.js';

/** Outcome that a person found at the authority. */
export interface Settlement {
  readonly id: number;
  /** `accepted`: all numbers are annulled. `rejected`: none is. `partial`: all but `refused`. */
  readonly outcome: 'accepted' | 'rejected' | 'partial';
  /** Numbers that are not annulled; only with `partial`. */
  readonly refused: readonly NumberRange[];
  /** Note of the person, stored as given. */
  readonly note: string;
  /** The actor, for the audit log. */
  readonly by?: ActedBy | undefined;
}

/** `ecf cancellations settle`: records the outcome that a person found. */
export type SettleCancellation = (settlement: Settlement) => Promise<Cancellation>;

/**
 * Settles a cancellation that has an alarm and is not being sent. Refused numbers become free, the cancellation is
 * not sent again, and the note is stored beside the last answer of the authority.
 */
export function createSettleCancellation(
  cancellations: Pick<CancellationStore, 'find' | 'record'>,
  observer: Pick<CancellationObserver, 'settled'>,
  clock: () => Date,
): SettleCancellation {
  return async (settlement) => {
    const before = await cancellations.find(settlement.id);
    if (before === null) throw new EmissionError('not_found', `There is no cancellation ${settlement.id}.`);
    if (before.alarm === null || before.state === 'sending') throw conflict(before);
    const now = clock();
    const act = actOf(settlement.by, actionOf(settlement), toIsoDominican(now));
    const recorded = await cancellations.record(before, settledBy(before, settlement, now), act);
    if (recorded === null) {
      // The answer to the commit may have been lost, so the stored settlement may be this one.
      const present = await cancellations.find(settlement.id);
      if (present?.state !== settlement.outcome || present.settledNote !== settlement.note) throw conflict(before);
      return present;
    }
    observer.settled(recorded);
    return recorded;
  };
}

function actionOf({ id, outcome, refused, note }: Settlement) {
  const details = { outcome, note, ...(refused.length === 0 ? {} : { refused: refused.map(describe) }) };
  return { action: 'cancellation.settle', target: `/cancellations/${id}`, details };
}

function settledBy(before: Cancellation, { outcome, refused, note }: Settlement, at: Date): CancellationProgress {
  const requested = rangesOf(before.lines);
  const [stranger] = without(refused, requested);
  if (stranger !== undefined)
    throw invalidRequest(['body', 'refused'], `${describe(stranger)} is not in the cancellation.`, 'not_in_range');
  if (outcome === 'partial' && without(requested, refused).length === 0)
    throw invalidRequest(['body', 'refused'], 'all numbers are named: then it is rejected, not partial', 'too_big');
  return {
    ...before,
    state: outcome,
    refused: outcome === 'partial' ? common(requested, refused) : [],
    nextActionAt: null,
    alarm: null,
    settledAt: at,
    settledNote: note,
  };
}

function conflict({ id }: Cancellation): EmissionError {
  return new EmissionError(
    'conflict',
    `The cancellation ${id} does not need a decision by a person now: it is decided, or is being sent.`,
  );
}
