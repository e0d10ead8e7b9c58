import type { AuditAct } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { NumberRange } from '@ecf/domain/number-set';
import type { ClaimRequest } from '@ecf/postgres/due-work';
import type { Cancellation, CancellationAlarm, CancellationProgress, NewCancellation } from './cancellation.js';
import type { CancellationRequest, SignedCancellation, signCancellation } from './cancellation-document.js';

/** Numbers that cannot be cancelled, and why. */
export interface Taken {
  /** A sample of the numbers in use or in flight. */
  readonly used: readonly { readonly encf: string; readonly state: string }[];
  /** A sample of the ranges that are cancelled or being cancelled. */
  readonly cancelled: readonly (NumberRange & { readonly by: number })[];
}

/** Numbers of an issuer, as merged ranges. */
export interface Numbers {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly ranges: readonly NumberRange[];
}

/**
 * Cancellations. Each change writes `cancellation.changed` in the same transaction. From the commit of `add` or
 * `submit` on, no attempt can be committed under the numbers.
 */
export interface CancellationStore {
  /** The attempts and cancellations that hold the numbers; null if there are none. */
  taken(numbers: Numbers): Promise<Taken | null>;
  /**
   * Commits a cancellation with its signed bytes: with a lease to be sent now, or local (null). If a number is taken,
   * it stores no cancellation. If a local one with the same content exists, that one is the result, sent if there is a
   * lease.
   */
  add(
    cancellation: NewCancellation,
    bytes: Uint8Array,
    lease: Date | null,
  ): Promise<{ added: Cancellation } | { taken: Taken }>;
  /** Submits a local cancellation; null if it is no longer local. */
  submit(id: number, lease: Date, now: Date): Promise<{ added: Cancellation } | { taken: Taken } | null>;
  /** The latest local cancellation with that content. */
  findLocal(key: { env: Environment; accountId: string; contentHash: string }): Promise<Cancellation | null>;
  find(id: number): Promise<Cancellation | null>;
  /** Newest first, read one by one, because each may have a hundred thousand ranges. */
  list(filter: { env: Environment; issuerRnc: string; limit: number; offset: number }): AsyncIterable<Cancellation>;
  /**
   * Leases due cancellations; from then on they count as `sending`. One that was already `sending` may have arrived. The ids
   * of `except` are passed over.
   */
  claimDue(request: ClaimRequest & { readonly except?: readonly number[] }): Promise<Cancellation[]>;
  /** Records the outcome of a send. Refused numbers become free. Null after a concurrent change. */
  record(before: Cancellation, progress: CancellationProgress, act?: AuditAct | null): Promise<Cancellation | null>;
  /** Cancellations with an alarm, or (`settled`) cancellations that a person settled, in the order of ids. */
  needingPerson(filter: PersonFilter): Promise<Cancellation[]>;
  /** Counts of undecided cancellations and of alarms. */
  backlog(): Promise<{ undecided: number; alarms: readonly { kind: CancellationAlarm; count: number }[] }>;
}

/** Filter of the list for operators. */
export interface PersonFilter {
  readonly env: Environment | null;
  readonly issuerRnc: string | null;
  readonly settled: boolean;
  /** Only ids above this one. */
  readonly after: number;
  readonly limit: number;
}

/** Metrics and log lines for operators. */
export interface CancellationObserver {
  sent(cancellation: Cancellation, outcome: string): void;
  alarm(cancellation: Cancellation): void;
  /** A person settled it. */
  settled(cancellation: Cancellation): void;
  failed(what: string, error: unknown, id?: number): void;
}

/** Reads and signs cancellations. A large one, with a hundred thousand ranges, does not block other requests. */
export interface CancellationDocuments {
  /**
   * @see readCancellationRequest
   * @throws EmissionError `overloaded` where too many large requests wait
   */
  read(body: Buffer): Promise<CancellationRequest>;
  /** @see signCancellation */
  sign(...order: Parameters<typeof signCancellation>): Promise<SignedCancellation>;
}
