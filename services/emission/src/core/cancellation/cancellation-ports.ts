import type { AuthorityClient } from '@ecf/authority-client';
import type { Environment } from '@ecf/domain';
import type { ClaimRequest } from '@ecf/service-kit/due-work';
import type { Ports } from '../ports.js';
import type { Cancellation, CancellationAlarm, CancellationProgress, NewCancellation } from './cancellation.js';
import type { SignedCancellation, signCancellation } from './cancellation-document.js';
import type { NumberRange } from './number-set.js';
import type { CancellationRequest } from './request.js';

/** Numbers that cannot be cancelled, and why. */
export interface Taken {
  /** Numbers in use or in flight with us, a sample of them. */
  readonly used: readonly { readonly encf: string; readonly state: string }[];
  /** Ranges that are cancelled already, or about to be, a sample of them. */
  readonly cancelled: readonly (NumberRange & { readonly by: number })[];
}

/** Whose numbers; the ranges merged. */
export interface Numbers {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly ranges: readonly NumberRange[];
}

/**
 * Cancellations. Whatever changes one appends `cancellation.changed` in the same transaction. Numbers are blocked from the
 * commit of `add` or `submit` on: no attempt under one of them can be committed after it.
 */
export interface CancellationStore {
  /** What keeps the numbers from being cancelled now; null where nothing does. */
  taken(numbers: Numbers): Promise<Taken | null>;
  /**
   * Commits a cancellation with its signed bytes: with a lease that is sent now, or local (null). Nothing is kept where a number is taken. Where a
   * local one of that content is there, whoever made it, that one is the result: as it is, or sent from now on.
   */
  add(
    cancellation: NewCancellation,
    bytes: Uint8Array,
    lease: Date | null,
  ): Promise<{ added: Cancellation } | { taken: Taken }>;
  /** Turns a local one into one that is sent; null where it is local no more. */
  submit(id: number, lease: Date, now: Date): Promise<{ added: Cancellation } | { taken: Taken } | null>;
  /** The latest local one of that content. */
  findLocal(key: { env: Environment; accountId: string; contentHash: string }): Promise<Cancellation | null>;
  find(id: number): Promise<Cancellation | null>;
  /** Newest first, one after the other: one may hold a hundred thousand ranges. */
  list(filter: { env: Environment; issuerRnc: string; limit: number; offset: number }): AsyncIterable<Cancellation>;
  /**
   * Leases due cancellations; from then on they count as `sending`. One that was already `sending` may have arrived. A clock
   * that is set on may end the lease of a send in this process, so ids `inFlight` are passed over.
   */
  claimDue(request: ClaimRequest & { readonly inFlight: readonly number[] }): Promise<Cancellation[]>;
  /** Writes down how a send ended; numbers that are refused are free from then on. Null where another change came between. */
  record(before: Cancellation, progress: CancellationProgress): Promise<Cancellation | null>;
  /** Those that a person has to look at, or (`settled`) those that a person settled; in the order of their ids. */
  needingPerson(filter: PersonFilter): Promise<Cancellation[]>;
  /** Those that are not decided, and those with an alarm. */
  backlog(): Promise<{ undecided: number; alarms: readonly { kind: CancellationAlarm; count: number }[] }>;
}

/** Which cancellations people are told of. */
export interface PersonFilter {
  readonly env: Environment | null;
  readonly issuerRnc: string | null;
  readonly settled: boolean;
  /** Ids above this one only. */
  readonly after: number;
  readonly limit: number;
}

/** What people who operate the service are told. */
export interface CancellationObserver {
  sent(cancellation: Cancellation, outcome: string): void;
  alarm(cancellation: Cancellation): void;
  /** A person settled it. */
  settled(cancellation: Cancellation): void;
  failed(what: string, error: unknown, id?: number): void;
}

/** Reads and signs cancellations. One may have a hundred thousand ranges, so large ones do not block other requests. */
export interface CancellationDocuments {
  /**
   * @see readCancellationRequest
   * @throws EmissionError `service_unavailable` where too many large requests wait
   */
  read(body: Buffer): Promise<CancellationRequest>;
  /** @see signCancellation */
  sign(...order: Parameters<typeof signCancellation>): Promise<SignedCancellation>;
}

export interface CancellationPorts
  extends Pick<Ports, 'archive' | 'tokens' | 'clock' | 'random' | 'sleep' | 'inOrder' | 'checkpoint' | 'pending'> {
  readonly cancellations: CancellationStore;
  readonly cancellationDocuments: Pick<CancellationDocuments, 'sign'>;
  readonly cancellationAuthority: Pick<AuthorityClient, 'submitCancellation'>;
  readonly cancellationObserver: CancellationObserver;
  readonly settings: Pick<Ports['settings'], 'firstRetryMs' | 'sendTimeoutMs'>;
}

/** Two logins of two calls each, and two sends. Each call has its own timeout. */
const CALLS_OF_A_SEND = 6;
const LEASE_MARGIN_MS = 15_000;

/** Milliseconds for which a cancellation is leased to its sender: longer than all calls of the send. */
export function leaseMs({ sendTimeoutMs }: CancellationPorts['settings']): number {
  return CALLS_OF_A_SEND * sendTimeoutMs + LEASE_MARGIN_MS;
}
