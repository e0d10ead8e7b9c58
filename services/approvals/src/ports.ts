import type { AuthorityClient, ReceiverClient, TokenProvider } from '@ecf/authority-client';
import type { AuditAct, EmissionOperations, ReceptionOperations } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { QuotaStore, SignerFacts, SignerUse, StoredBytesLimits } from '@ecf/public-ingress';
import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { DocumentReader } from '@ecf/service-kit/xml-store';
import type { Certificates, RecordCertificateUse, StartedRun, TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { SigningCertificate } from '@ecf/xml-signing';
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
import type { Receivers } from './sending/endpoints.js';

/** The recipient of a send. */
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

/** How a send ended, to be recorded. */
export type Progress =
  | ({ readonly target: 'authority'; readonly dueAt: Date | null } & Pick<
      AuthoritySide,
      'status' | 'response' | 'sentAt'
    >)
  | ({ readonly target: 'issuer'; readonly dueAt: Date | null } & Pick<IssuerSide, 'status' | 'error' | 'sentAt'>);

/** Certification runs of taxpayers. */
export interface RunStore {
  /**
   * Approvals given and received, and acknowledgements, that came before the start belong to the run before: they are kept, and no
   * later look-up finds them. A start that is known, or an earlier one, changes nothing.
   */
  start(run: StartedRun): Promise<void>;
  /** The present run of a taxpayer, as far as its start is known. */
  present(env: Environment, rnc: string): Promise<number>;
}

/**
 * Commercial approvals that our taxpayers give. A change of the standing decision of a document appends `approval.changed` to
 * the outbox in the same transaction.
 */
export interface ApprovalStore {
  /** All records about a document, oldest first. */
  about(key: DecisionKey): Promise<GivenApproval[]>;
  /**
   * Commits a new record with its signed bytes, unless an earlier decision about the document forbids it (`refused`). With
   * `claimedUntil` it is to be sent, and the caller holds the lease of both sends until then.
   */
  add(
    approval: NewApproval,
    bytes: Uint8Array,
    claimedUntil: Date | null,
  ): Promise<{ added: GivenApproval } | { refused: Admission }>;
  /**
   * A document took the number of `key` at `at`, because the authority confirmed it. Decisions about the one before it are
   * superseded, and the status is pending again. Repeating it changes nothing.
   * @param documentId id of the document that holds the number now
   */
  documentPromoted(key: DecisionKey, documentId: number, at: Date): Promise<void>;
  /** Marks an unsent record to be sent, under the same conditions. */
  submit(id: number, claimedUntil: Date, at: Date): Promise<{ added: GivenApproval } | { refused: Admission }>;
  /**
   * Claims records that are due at a target until `until`, and counts the try. An issuer gets one at most, and none if it is in
   * `busy` (`<env>:<RNC>`). No two instances claim the same, and none claims a record that it is sending (`inFlight`).
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
  /** Renews the leases of sends in flight. */
  renewLeases(target: Target, ids: readonly number[], until: Date): Promise<void>;
  /**
   * Records how a send of `claimed` ended, and resolves with the record afterwards. After a later send or a decision of the
   * target, the ending counts only if the document was accepted. The fact that it may have arrived is always recorded.
   * Throws Unwritable.
   */
  progress(claimed: GivenApproval, progress: Progress, exchange: Exchange | null): Promise<GivenApproval>;
  /**
   * Records an operator's finding about a record without the authority's decision. It is not sent there again, and no later
   * answer changes it. Null where it is decided or was not to be sent.
   */
  settle(
    id: number,
    status: 'Aceptado' | 'Rechazado',
    note: string,
    at: Date,
    act: AuditAct | null,
  ): Promise<GivenApproval | null>;
  /**
   * Makes a standing decision due at its issuer at once, with a deadline counted from `at`. Null where another or none stands,
   * where the issuer has it, or where it does not go there.
   */
  retry(id: number, at: Date, act: AuditAct | null): Promise<GivenApproval | null>;
  /** By id: without the authority's decision, settled by an operator, or not delivered to the issuer. */
  listed(filter: {
    readonly env: Environment | null;
    readonly issuerRnc: string | null;
    readonly which: 'undecided' | 'settled' | 'undelivered';
    readonly after: number;
    readonly limit: number;
  }): Promise<GivenApproval[]>;
  /** The number of sends to a target whose ending was recorded. */
  recordedSends(id: number, target: Target): Promise<number>;
  find(id: number): Promise<GivenApproval | null>;
  /** Newest first by creation, then id. */
  list(filter: { env: Environment; buyerRnc: string; limit: number; offset: number }): Promise<GivenApproval[]>;
  /** The number of undecided records at a target, and the age of the oldest. Issuers without receiver do not count. */
  backlog(): Promise<{ target: Target; count: number; oldest: Date | null }[]>;
}

/** A buyer's answer (ACECF) to an e-CF of ours, before it has an id. */
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
  /** The signer is known for the buyer. */
  readonly confirmed: boolean;
  /** SHA-256 of the verified content; null where the answer came before it was stored. */
  readonly contentSha256: string | null;
  readonly canonical: 'as-is' | 'whitespace-dropped';
  readonly requestId: string;
  readonly sender: string | null;
}

export interface ReceivedAnswer extends NewReceivedApproval {
  readonly id: number;
  /** It is the answer that decides the approval status of its e-CF. */
  readonly counts: boolean;
}

/** An operator's decision whether an answer counts. */
export interface AnswerRuling {
  readonly counts: boolean;
  readonly reason: string;
  readonly at: Date;
  /** For the audit log; committed with the ruling. */
  readonly act: AuditAct | null;
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
  /** Null where a quota did not allow to keep the bytes. */
  readonly xmlPath: string | null;
  readonly requestId: string;
  readonly sender: string | null;
}

/**
 * Answers of buyers. None is deleted. A change of the answer that counts appends `approval.changed` to the outbox in the same
 * transaction.
 */
export interface ReceivedApprovalStore {
  /** The answer that counts. */
  find(key: Omit<DecisionKey, 'buyerRnc'>): Promise<ReceivedAnswer | null>;
  /** All answers to an e-CF, oldest first; of more than a thousand, the one that counts and those of known signers first. */
  answers(key: Omit<DecisionKey, 'buyerRnc'>): Promise<ReceivedAnswer[]>;
  /** The bytes of an answer with equal verified content; null if there is none. */
  equalTo(key: Omit<DecisionKey, 'buyerRnc'>, contentSha256: string | null): Promise<StoredBytes | null>;
  /** Where identical bytes of an answer or a refused one are kept; null if they were refused and not kept, undefined if new. */
  pathOf(key: Omit<DecisionKey, 'buyerRnc'>, sha256: string): Promise<string | null | undefined>;
  /** Commits an answer that counts, with its bytes; false, and nothing kept, if another one goes on to count. */
  add(approval: NewReceivedApproval, bytes: Uint8Array): Promise<boolean>;
  /**
   * Commits a refusal. `bytes` are stored if it names a path, null if they are kept already; `answer` does not count,
   * null without one.
   */
  refuse(refusal: NewRefusedApproval, bytes: Uint8Array | null, answer: NewReceivedApproval | null): Promise<void>;
  /** Commits an operator's decision; null if the account has no such answer. */
  rule(id: number, accountId: string, ruling: AnswerRuling): Promise<ReceivedAnswer | null>;
}

/** Validates approvals in workers, within bounds on time and memory; rejects with `service_unavailable` beyond them. */
export interface ApprovalValidation {
  /** Rejects with UnreadableApproval where the bytes are not XML. */
  approval(bytes: Uint8Array, now: Date): Promise<ApprovalValidationResult>;
}

/** Signers who are known for a buyer: they signed an ARECF of the buyer to us, or an e-CF of the buyer that was confirmed. */
export interface KnownSigners {
  /** For each use, whether the signer was known before. */
  areKnown(uses: readonly SignerUse[]): Promise<boolean[]>;
  /** The authority confirmed an e-CF with this signer. Its answers in the name of the RNC are confirmed. */
  confirmed(use: SignerUse): Promise<void>;
}

/** Reports to the operators. */
export interface Observer {
  failed(what: string, error: unknown): void;
  /** A send of an approval ended. */
  sent(target: Target, outcome: string): void;
}

export interface ApprovalSettings extends StoredBytesLimits {
  /** Longest refused approval that is kept. */
  readonly maxRefusedBytes: number;
  /** Pause after the first failed send. */
  readonly firstRetryMs: number;
  /** How long a send to an issuer is tried that cannot be reached or has no receiver. */
  readonly issuerDeadlineMs: number;
  /** How long a request waits for the issuer's answer after the authority's. */
  readonly issuerWaitMs: number;
  /** Milliseconds of a lease, which is renewed while the send is in flight. */
  readonly leaseMs: number;
}

export interface Ports {
  readonly approvals: ApprovalStore;
  readonly runs: RunStore;
  readonly received: ReceivedApprovalStore;
  readonly taxpayers: TaxpayerReplica;
  /** Null in a deployment without gateway. */
  readonly source: TaxpayerSource | null;
  readonly certificates: Certificates;
  /** Reads committed documents, before and after they reach the archive. */
  readonly archive: DocumentReader;
  /** Reads documents that emission issued. */
  readonly issuedXml: DocumentReader;
  readonly quotas: QuotaStore;
  readonly signers: KnownSigners;
  readonly authority: Pick<AuthorityClient, 'submitCommercialApproval'>;
  readonly issuers: Pick<ReceiverClient, 'deliverApproval'>;
  readonly receivers: Receivers;
  readonly tokens: TokenProvider;
  /** Before every signature. */
  readonly recordUse: RecordCertificateUse;
  readonly emission: Pick<EmissionOperations, 'findInvoices' | 'sealedCertificate'>;
  /** Opens a certificate that came with a document. Throws where no key opens it. */
  readonly openRequestCertificate: (sealed: Uint8Array, owner: { account: string; rnc: string }) => SigningCertificate;
  readonly reception: Pick<ReceptionOperations, 'findReceived' | 'verifyProviderToken'>;
  readonly validation: ApprovalValidation;
  readonly observer: Observer;
  readonly settings: ApprovalSettings;
  readonly clock: () => Date;
  /** Milliseconds of a clock that is never set, for pauses. */
  readonly elapsed: () => number;
  readonly random: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}
