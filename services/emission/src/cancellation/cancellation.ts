import type { EcfType, Environment } from '@ecf/domain';
import { type NumberRange, without } from '@ecf/domain/number-set';

/**
 * State of a cancellation.
 * - `local`: signed and stored, not to be sent. It blocks no number.
 * - `sending`: committed before the first byte is sent. The numbers are blocked from here on.
 * - `failed`: it did not reach the authority and is sent again.
 * - `submitted`: the authority may have it. The same bytes are sent again, or the operator decides.
 * - `accepted`, `partial`, `rejected`: the verdict of the authority. Refused numbers are free again.
 */
export type CancellationState = 'local' | 'sending' | 'failed' | 'submitted' | 'accepted' | 'partial' | 'rejected';

/** Reason why a person has to look at a cancellation. */
export type CancellationAlarm =
  /** Undecided for more than 72 hours. Work continues. */
  | 'cancellation-overdue'
  /** It was refused after a lost answer or a restore, so an earlier copy may have succeeded. Nothing more is sent. */
  | 'cancellation-open'
  /**
   * The authority refused some numbers in an unreadable answer, or refused all and named only some. The annulled
   * numbers are unknown, so all stay blocked.
   */
  | 'cancellation-unreadable';

/** Requested ranges of one type. `ranges` has first and last sequence of each, one after the other. */
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
  /** Id of the API key that made it; null if unknown. */
  readonly createdBy: string | null;
  /** SHA-256 by which requests are equal. */
  readonly contentHash: string;
  readonly version: string;
  readonly reason: string | null;
  readonly total: number;
  readonly generatedAt: Date;
  readonly createdAt: Date;
  /** Where the signed bytes are kept, and their SHA-256. */
  readonly xmlPath: string;
  readonly xmlSha256: string;
  readonly lines: readonly CancellationLine[];
}

/** A stored cancellation. */
export interface Cancellation extends NewCancellation {
  readonly id: number;
  /** The certification run of the issuer to which its numbers belong. */
  readonly run: number;
  /** Increases with every change; guards against lost updates. */
  readonly revision: number;
  readonly state: CancellationState;
  /** Time of the request to send it; null while it is local. */
  readonly requestedAt: Date | null;
  /** Time of the first send, or of the first possible one. */
  readonly sentAt: Date | null;
  /** The last answer of the authority, unchanged. */
  readonly response: string | null;
  /** Numbers that the authority refused, merged. */
  readonly refused: readonly NumberRange[];
  /** Sends with an unknown outcome. */
  readonly lostSends: number;
  readonly failures: number;
  /** Due time, or end of the lease; null if no work is left. */
  readonly nextActionAt: Date | null;
  readonly alarm: CancellationAlarm | null;
  /** When a person settled it, with the person's note; null without a settlement. */
  readonly settledAt: Date | null;
  readonly settledNote: string | null;
}

/** Fields that the outcome of a send, or a settlement, changes. */
export type CancellationProgress = Pick<
  Cancellation,
  | 'state'
  | 'sentAt'
  | 'response'
  | 'refused'
  | 'lostSends'
  | 'failures'
  | 'nextActionAt'
  | 'alarm'
  | 'settledAt'
  | 'settledNote'
>;

/** All requested ranges of the lines. */
export function rangesOf(lines: readonly CancellationLine[]): NumberRange[] {
  return lines.flatMap(({ type, ranges }) => {
    const all: NumberRange[] = [];
    for (let at = 0; at < ranges.length; at += 2)
      all.push({ type, from: ranges[at] as number, to: ranges[at + 1] as number });
    return all;
  });
}

/** Numbers that a cancellation blocks, merged. */
export function blockedBy(cancellation: Pick<Cancellation, 'state' | 'lines' | 'refused'>): NumberRange[] {
  if (cancellation.state === 'local' || cancellation.state === 'rejected') return [];
  return without(rangesOf(cancellation.lines), cancellation.refused);
}
