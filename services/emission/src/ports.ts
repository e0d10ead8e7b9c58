import type { AuthorityClient, TokenProvider } from '@ecf/authority-client';
import type { AccountTaxpayers, AuditAct, NumberRange } from '@ecf/contracts';
import type { EcfType, EmissionState, Environment } from '@ecf/domain';
import type { ClaimRequest } from '@ecf/service-kit/due-work';
import type { SealingKeys } from '@ecf/service-kit/security';
import type { DocumentReader, PendingDocument } from '@ecf/service-kit/xml-store';
import type { Caller, RecordCertificateUse, TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { AlarmKind, Attempt, DocumentKey, PastSubmission } from './attempt/attempt.js';
import type { FollowUpSettings, Random } from './attempt/transitions.js';
import type { ContingencyStore } from './contingency/contingency.js';
import type { KeyedQueue } from './keyed-queue.js';
import type { RunStore } from './runs/start-run.js';

/** One answer of the authority about an attempt, kept for the audit trail. */
export interface RecordedExchange {
  readonly operation: string;
  readonly at: Date;
  /** `verdict`, `unauthorized`, `unknown:<cause>`, `refused:<code>`. */
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly contentType: string | null;
  readonly body: string | null;
}

/** A note that changes the balance of the document it modifies. Amounts are decimal text. */
export interface RelatedNote {
  readonly encf: string;
  readonly ecfType: string;
  readonly state: EmissionState;
  readonly totalAmount: string;
}

/** The attempt and the cancellation under a number. */
export interface Found {
  /** The latest attempt under it. */
  readonly attempt: Attempt | null;
  /** The id of the cancellation that covers it. */
  readonly cancelledBy: number | null;
  /** The certification run to which the number belongs. */
  readonly run: number;
}

/**
 * Emissions with their latest attempt. Every method that changes an attempt also appends `invoice.changed` to the outbox,
 * in the same transaction, unless only the schedule changed.
 */
export interface EmissionStore {
  /** The id of a new emission; gaps are fine. */
  nextId(): Promise<number>;
  find(key: DocumentKey): Promise<Attempt | null>;
  look(key: DocumentKey): Promise<Found>;
  /**
   * Commits an attempt made by `beginAttempt` with its signed bytes, and the emission if it is the first. False if
   * the number was taken or cancelled meanwhile. Durable when it resolves.
   *
   * @param notesFound for a credit note, how many attempts of notes its check found; false if there are others by now, on any
   * instance
   * @param binding the idempotency key, which the commit binds; false also if it is bound already, or if the reservation of a
   * drawn number ended
   */
  begin(
    attempt: Attempt,
    sealedCertificate: Uint8Array | null,
    files: readonly PendingDocument[],
    notesFound?: number | null,
    binding?: Drawn | KeyBinding | null,
  ): Promise<boolean>;
  /** The submission history of the number, oldest first, also the entries that are not kept with the attempt. */
  submissionHistory(attempt: Attempt): Promise<readonly PastSubmission[]>;
  /** Replaces `before` by `after` and stores the exchanges. False after a concurrent change, and nothing is stored. */
  save(
    before: Attempt,
    after: Attempt,
    exchanges: readonly RecordedExchange[],
    /** The action of an administrator, for the audit log. */
    act?: AuditAct | null,
  ): Promise<boolean>;
  /** Stores answers that came too late to change their attempt, because a later one has the number. */
  keepExchanges(attempt: Attempt, exchanges: readonly RecordedExchange[]): Promise<void>;
  /** Leases at most `limit` due attempts to `owner` until `until`, earliest first. */
  claimDue(request: ClaimRequest & { readonly owner: string }): Promise<Attempt[]>;
  sealedCertificate(attempt: Attempt): Promise<Uint8Array | null>;
  /** Erases the certificate that came along with an accepted document. */
  eraseCertificate(key: DocumentKey): Promise<void>;
  /** Notes of ours that modify the document, and the number of all their attempts, which only grows. */
  notesOn(key: DocumentKey): Promise<{ readonly notes: readonly RelatedNote[]; readonly attempts: number }>;
  /** Another taxpayer of the account, for which the key may act, that issued the number; null if there is none. */
  otherIssuer(caller: Pick<Caller, 'accountId' | 'taxpayers'>, key: DocumentKey): Promise<string | null>;
  /** Attempts of the issuer that wait for a certificate become due at once. */
  resume(issuerRnc: string): Promise<void>;
  /** Undecided attempts by state and by alarm, and when the oldest was committed. */
  backlog(): Promise<Backlog>;
}

/** The account and the environment to which an idempotency key belongs. */
export interface KeyScope {
  readonly accountId: string;
  readonly env: Environment;
  /** 1 to 255 printable characters. */
  readonly idempotencyKey: string;
}

/** A submission that leaves its number to the service. */
export interface DrawRequest extends KeyScope {
  readonly issuerRnc: string;
  readonly ecfType: EcfType;
  /** Names the reservation. */
  readonly token: string;
  /** Registered ranges of the environment and type that are not expired. */
  readonly ranges: readonly NumberRange[];
}

/** An idempotency key, for the commit of the document that it names. */
export interface KeyBinding {
  readonly idempotencyKey: string;
  /** As that of an attempt, of the document before the service filled in its number and expiry. */
  readonly contentHash: string;
}

/** A drawn number, for the commit of its document. */
export interface Drawn extends KeyBinding {
  readonly token: string;
  /** The certification run in which it was drawn. */
  readonly run: number;
}

export type Draw =
  | { readonly outcome: 'drawn'; readonly encf: string; readonly run: number }
  /** `bound`: the key was used before. `busy`: a call with the key is in progress. `none`: no number is left. */
  | { readonly outcome: 'bound' | 'busy' | 'none' };

/** Automatic numbers. The database gives each number once, to all instances. */
export interface NumberStore {
  /** The submission that the key names, in the present certification run of the issuer. */
  submitted(
    scope: KeyScope & { readonly issuerRnc: string },
  ): Promise<{ readonly contentHash: string; readonly attempt: Attempt } | null>;
  /** Reserves the next number for a few seconds. A number whose reservation ends without a document is given again. */
  draw(request: DrawRequest): Promise<Draw>;
  /** Binds the key of a repeat to the attempt that the repeat found. False if the key is bound already. */
  bind(accountId: string, binding: KeyBinding, attempt: Attempt): Promise<boolean>;
  /** Ends the reservation. The number is given before any higher one. */
  giveBack(token: string): Promise<void>;
  /** The numbers left in each range, in the order of `ranges`; `next` is null if none is left. */
  left(
    issuerRnc: string,
    ranges: readonly NumberRange[],
  ): Promise<{ readonly next: string | null; readonly remaining: number }[]>;
  /** Deletes idempotency keys that were used more than 30 days ago, at most those of one day in a call. */
  forgetKeys(now: Date): Promise<void>;
}

export interface Backlog {
  readonly undecided: readonly { state: EmissionState; count: number }[];
  readonly alarms: readonly { kind: AlarmKind; count: number }[];
  readonly oldestCommittedAt: Date | null;
}

/** Fetches an account that changed a moment ago from the gateway. */
export interface AccountSource {
  fetch(accountId: string): Promise<AccountTaxpayers>;
}

/** Seals under the deployment's master keys. A value opens only for what it was sealed for. */
export type Sealer = Pick<SealingKeys, 'seal' | 'unseal'>;

export type Authority = Pick<
  AuthorityClient,
  | 'submitDocument'
  | 'submitConsumerSummary'
  | 'queryResult'
  | 'queryState'
  | 'queryTrackIds'
  | 'queryConsumerSummary'
  | 'requestSeed'
  | 'isAway'
  | 'maintenanceUntil'
>;

/** Metrics and log lines for operators. */
export interface Observer {
  signed(seconds: number): void;
  submitted(attempt: Attempt, outcome: string): void;
  decided(attempt: Attempt): void;
  alarm(attempt: Attempt): void;
  /** An answer to a query about `attempt` named another document and was not used. */
  mismatchedAnswer(attempt: Attempt, detail: string): void;
  failed(what: string, error: unknown, attempt?: Attempt): void;
}

export interface EmissionSettings extends FollowUpSettings {
  /** Milliseconds that `/fe_Submit` waits for the authority's verdict; 0 does not wait. */
  readonly statusWaitMs: number;
  /** Longest time of one send in milliseconds. */
  readonly sendTimeoutMs: number;
  /** Milliseconds for which an attempt is leased to the request or the follow-up that works on it. */
  readonly leaseMs: number;
  /** Documents a second that leave the contingency queue when the authority returns. */
  readonly recoveryRate: number;
}

/** Steps at which tests end a process. */
export type Checkpoint =
  | 'drawn'
  | 'signed'
  | 'committed'
  | 'sent'
  | 'recorded'
  | 'claimed'
  | 'resend-committed'
  | 'looked-up';

export interface Ports {
  readonly emissions: EmissionStore;
  readonly numbers: NumberStore;
  readonly runs: RunStore;
  readonly contingency: ContingencyStore;
  readonly taxpayers: TaxpayerReplica;
  readonly accounts: AccountSource;
  /** Reads documents from the database and the archive. */
  readonly archive: DocumentReader;
  readonly authority: Authority;
  readonly tokens: TokenProvider;
  /** Before every signature. */
  readonly recordUse: RecordCertificateUse;
  readonly sealer: Sealer;
  readonly observer: Observer;
  readonly clock: () => Date;
  readonly random: Random;
  /** Resolves after that many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
  /** The name of this instance among those that share the database. */
  readonly owner: string;
  readonly settings: EmissionSettings;
  /** Runs work with the same key in order, in this process. */
  readonly inOrder: KeyedQueue;
  /** Work that continues after its request was answered. A graceful stop waits for it. */
  readonly pending: Set<Promise<unknown>>;
  /** Called between steps. Lines of batches let submissions of callers go first here; else it does nothing outside tests. */
  readonly checkpoint: (step: Checkpoint) => Promise<void> | void;
}
