import type { EcfType, Environment } from '@ecf/domain';
import type { StoredFile } from '../attempt/attempt.js';
import type { NumberRange } from './number-set.js';

/**
 * How far a cancellation has come.
 * - `local`: signed and stored, not to be sent; it blocks no number.
 * - `sending`: the first byte is about to leave, or left; committed before it does. The numbers are blocked from here on.
 * - `failed`: it certainly did not reach the authority; it is sent again.
 * - `submitted`: the authority may have it; the same bytes are sent again, or a person has to look.
 * - `accepted`, `partial`, `rejected`: the authority's verdict; refused numbers are free again.
 */
export type CancellationState = 'local' | 'sending' | 'failed' | 'submitted' | 'accepted' | 'partial' | 'rejected';

/** Why a person has to look at a cancellation. */
export type CancellationAlarm =
  /** Undecided for more than 72 hours; work goes on. */
  | 'cancellation-overdue'
  /** A repeat after a lost answer was refused: an earlier copy may have done it. Nothing is sent by itself any more. */
  | 'cancellation-open'
  /**
   * The authority took a part and names the rest in words that cannot be read, or refuses by naming only some of the
   * numbers: which are annulled is not known, all stay blocked.
   */
  | 'cancellation-unreadable';

/** Ranges of one type, as asked for: `ranges` holds first and last sequence of each in turn. */
export interface CancellationLine {
  readonly type: EcfType;
  readonly total: number;
  readonly ranges: readonly number[];
}

/** A cancellation of numbers (ANECF) that is signed and stored, before it has an id. */
export interface NewCancellation {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly accountId: string;
  /** SHA-256 of what makes two requests the same. */
  readonly contentHash: string;
  readonly version: string;
  readonly reason: string | null;
  readonly total: number;
  readonly generatedAt: Date;
  readonly createdAt: Date;
  readonly xml: StoredFile;
  readonly lines: readonly CancellationLine[];
}

/** A cancellation as it is kept. */
export interface Cancellation extends NewCancellation {
  readonly id: number;
  /** Increases with every change; guards against lost updates. */
  readonly revision: number;
  readonly state: CancellationState;
  /** When sending was asked for; null while it is local. */
  readonly askedAt: Date | null;
  /** When the bytes were first sent, or may have been. */
  readonly sentAt: Date | null;
  /** The authority's last answer as it came. */
  readonly response: string | null;
  /** Numbers that the authority refused, merged. */
  readonly refused: readonly NumberRange[];
  /** Sends whose outcome stayed unknown. */
  readonly lostSends: number;
  readonly failures: number;
  /** When it is sent next; a send under way keeps it in the future. Null: nothing is left to do by itself. */
  readonly nextActionAt: Date | null;
  readonly alarm: CancellationAlarm | null;
  /** When a person settled it, and in what words; null where nobody did. */
  readonly settled: { readonly at: Date; readonly note: string } | null;
}

/** What a send changes. */
export type CancellationProgress = Pick<
  Cancellation,
  'state' | 'sentAt' | 'response' | 'refused' | 'lostSends' | 'failures' | 'nextActionAt' | 'alarm' | 'settled'
>;

/** All ranges of the lines, as asked for. */
export function rangesOf(lines: readonly CancellationLine[]): NumberRange[] {
  return lines.flatMap(({ type, ranges }) => {
    const all: NumberRange[] = [];
    for (let at = 0; at < ranges.length; at += 2)
      all.push({ type, from: ranges[at] as number, to: ranges[at + 1] as number });
    return all;
  });
}
