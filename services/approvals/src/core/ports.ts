import type { AuthorityClient, ReceiverClient, TokenProvider } from '@ecf/authority-client';
import type { EmissionOperations, ReceptionOperations, SigningOperations } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { QuotaStore, RefusedBytesLimits, SignerFacts } from '@ecf/public-ingress';
import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { DocumentReader } from '@ecf/service-kit/xml-store';
import type { Certificates, TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { Admission } from './given/admission.js';
import type {
  AuthoritySide,
  DecisionKey,
  GivenApproval,
  IssuerSide,
  NewApproval,
  StoredBytes,
} from './given/given-approval.js';
import type { ApprovalValidationResult } from './received/validate-approval.js';
import type { Receivers } from './receivers/receivers.js';

/** Whom an approval is sent to. */
export type Target = 'authority' | 'issuer';

/** An answer of the authority or of an issuer, as it came. */
export interface Exchange {
  readonly target: Target;
  readonly at: Date;
  readonly outcome: string;
  readonly httpStatus: number | null;
  readonly contentType: string | null;
  readonly body: string | null;
}

/** How a send ended, to be written down. */
export type Progress =
  | ({ readonly target: 'authority'; readonly dueAt: Date | null } & Pick<
      AuthoritySide,
      'status' | 'response' | 'sentAt'
    >)
  | ({ readonly target: 'issuer'; readonly dueAt: Date | null } & Pick<IssuerSide, 'status' | 'error' | 'sentAt'>);

/**
 * Commercial approvals that our taxpayers give. What changes the decision that stands for a document also appends
 * `approval.changed` to the outbox, in the same transaction.
 */
export interface ApprovalStore {
  /** All records about a document, oldest first. */
  about(key: DecisionKey): Promise<GivenApproval[]>;
  /**
   * Commits a new record with its signed bytes unless a decision about the document forbids it, and gives it; with
   * `claimedUntil` it is to be sent, and the sends are the caller's until then. Otherwise gives what forbids it.
   */
  add(
    approval: NewApproval,
    bytes: Uint8Array,
    claimedUntil: Date | null,
  ): Promise<{ added: GivenApproval } | { refused: Admission }>;
  /** Has an unsent record sent, under the same conditions. */
  submit(id: number, claimedUntil: Date, at: Date): Promise<{ added: GivenApproval } | { refused: Admission }>;
  /**
   * Claims records that are due at a target until `until`, counting the try; for each issuer one at most, and none for those
   * in `busy` (`<env>:<RNC>`). No two instances claim the same, and none claims what it is sending itself (`inFlight`).
   */
  claimDue(
    target: Target,
    look: {
      readonly now: Date;
      readonly until: Date;
      readonly limit: number;
      readonly busy: readonly string[];
      readonly inFlight: readonly number[];
    },
  ): Promise<GivenApproval[]>;
  /** Prolongs claims whose sends are still under way. */
  keepClaims(target: Target, ids: readonly number[], until: Date): Promise<void>;
  /**
   * Writes down how a send of `claimed` ended, and gives the record as it is then. Where another send was begun or asked for
   * since, or the side was decided, it counts only where the document was taken; that it may have arrived is noted all the same. Throws
   * Unwritable where the database refuses the words for what they are.
   */
  progress(claimed: GivenApproval, progress: Progress, exchange: Exchange | null): Promise<GivenApproval>;
  /**
   * Writes down what a person found out about a record that the authority has not decided about: nothing goes there any
   * more, and no answer that comes later changes it. Null where it is decided or was not to be sent.
   */
  settle(id: number, status: 'Aceptado' | 'Rechazado', note: string, at: Date): Promise<GivenApproval | null>;
  /**
   * Has a decision that stands sent to its issuer at once, as if it were asked for at `at`. Null where another or none stands,
   * where the issuer has it, or where it does not go there.
   */
  retry(id: number, at: Date): Promise<GivenApproval | null>;
  /** By id: without the authority's decision, with a person's, or without having come to the issuer. */
  listed(filter: {
    readonly env: Environment | null;
    readonly issuerRnc: string | null;
    readonly which: 'undecided' | 'settled' | 'undelivered';
    readonly after: number;
    readonly limit: number;
  }): Promise<GivenApproval[]>;
  /** Sends to a target whose end was written down. */
  recordedSends(id: number, target: Target): Promise<number>;
  find(id: number): Promise<GivenApproval | null>;
  /** Newest first by creation, then id. */
  list(filter: { env: Environment; buyerRnc: string; limit: number; offset: number }): Promise<GivenApproval[]>;
  /** How many are undecided at a target, and since when the oldest is; issuers without receiver are not counted. */
  backlog(): Promise<{ target: Target; count: number; oldest: Date | null }[]>;
}

/** An approval that a buyer gave, before it has an id. */
export interface NewReceivedApproval {
  readonly key: DecisionKey;
  readonly accountId: string;
  readonly decision: 1 | 2;
  readonly reason: string | null;
  readonly decidedAt: Date;
  readonly receivedAt: Date;
  readonly bytes: number;
  readonly xml: StoredBytes;
  readonly signer: SignerFacts;
  readonly canonical: 'as-is' | 'whitespace-dropped';
  readonly requestId: string;
  readonly sender: string | null;
}

/** An approval of one of our e-CF that was answered with 400. */
export interface NewRefusedApproval {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
  readonly buyerRnc: string | null;
  readonly reason: string;
  readonly receivedAt: Date;
  readonly bytes: number;
  readonly sha256: string;
  /** Null where there was no room for the bytes. */
  readonly xmlPath: string | null;
  readonly requestId: string;
  readonly sender: string | null;
}

/** Approvals that buyers gave. */
export interface ReceivedApprovalStore {
  find(key: Omit<DecisionKey, 'buyerRnc'>): Promise<NewReceivedApproval | null>;
  /** Commits it with its bytes and its event; false, and nothing kept, if the e-CF was answered before. */
  add(approval: NewReceivedApproval, bytes: Uint8Array): Promise<boolean>;
  /** Commits it with its bytes if it names a path. */
  refuse(refusal: NewRefusedApproval, bytes: Uint8Array): Promise<void>;
}

/** Validates approvals in workers, within bounds on time and memory; rejects with `service_unavailable` beyond them. */
export interface ApprovalValidation {
  /** Rejects with UnreadableApproval where the bytes are not XML. */
  approval(bytes: Uint8Array, now: Date): Promise<ApprovalValidationResult>;
}

/** Reports to the operators. */
export interface Observer {
  failed(what: string, error: unknown): void;
  /** A send of an approval ended. */
  sent(target: Target, outcome: string): void;
}

export interface ApprovalSettings extends RefusedBytesLimits {
  /** Bytes of approvals of one sender that are taken in a day. */
  readonly maxReceivedBytesPerSender: number;
  /** Pause after the first failed send. */
  readonly firstRetryMs: number;
  /** How long an issuer that cannot be reached, or has no receiver, is tried. */
  readonly issuerDeadlineMs: number;
  /** How long a request waits for the issuer's answer after the authority's. */
  readonly issuerWaitMs: number;
  /** How long a send is one instance's before another may take it up; it is prolonged while the send is under way. */
  readonly leaseMs: number;
}

export interface Ports {
  readonly approvals: ApprovalStore;
  readonly received: ReceivedApprovalStore;
  readonly taxpayers: TaxpayerReplica;
  /** Null where the deployment has no gateway to ask. */
  readonly source: TaxpayerSource | null;
  readonly certificates: Certificates;
  /** Reads what the stores committed, before and after it reaches the archive. */
  readonly archive: DocumentReader;
  /** Reads documents that emission issued. */
  readonly issuedXml: DocumentReader;
  readonly quotas: QuotaStore;
  readonly authority: Pick<AuthorityClient, 'submitCommercialApproval'>;
  readonly issuers: Pick<ReceiverClient, 'deliverApproval'>;
  readonly receivers: Receivers;
  readonly tokens: TokenProvider;
  readonly emission: Pick<EmissionOperations, 'findInvoices'>;
  readonly signing: SigningOperations;
  readonly reception: Pick<ReceptionOperations, 'findReceived' | 'verifyProviderToken'>;
  readonly validation: ApprovalValidation;
  readonly observer: Observer;
  readonly settings: ApprovalSettings;
  readonly clock: () => Date;
  /** Milliseconds since any moment, for pauses: unlike the clock it is never set. */
  readonly elapsed: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}
