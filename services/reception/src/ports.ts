import type {
  ApprovalStatus,
  AuthorityStatus,
  ListingSort,
  ReceivedInvoiceAggregate,
  ReceivedInvoiceDecision,
} from '@ecf/contracts';
import type { CalendarDate, EcfType, Environment } from '@ecf/domain';
import type { QuotaStore, SignerUse } from '@ecf/public-ingress';
import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { DocumentReader, PendingDocument } from '@ecf/service-kit/xml-store';
import type { Certificates, RecordCertificateUse, StartedRun, TaxpayerReplica } from '@ecf/taxpayer-replica';
import type {
  Conflict,
  DocumentKey,
  NewReceivedDocument,
  NewRefusedDocument,
  NumberHolder,
  ReceivedDocument,
  StoredBytes,
  UnkeptConflict,
} from './receive/received-document.js';
import type { ValidationResult } from './receive/validate-document.js';
import type { SignedSeed } from './tokens/signed-seed.js';

/** Which documents of a period are wanted; null = any. */
export interface ReceivedCriteria {
  readonly status: ApprovalStatus | null;
  readonly ecfType: EcfType | null;
  readonly providerRnc: string | null;
  /** Bounds of the amount that a document states, both included; decimal texts. */
  readonly minAmount: string | null;
  readonly maxAmount: string | null;
  /** Only documents that changed then or later. */
  readonly updatedSince: Date | null;
}

/** The last row of a page: its value of the sort, its id, and how many rows matched when the first page was read. */
export interface Place {
  readonly value: string;
  readonly id: number;
  readonly total: number;
}

export interface Page {
  readonly sort: ListingSort;
  /** The page begins after this place; null = at `offset`. */
  readonly place: Place | null;
  readonly limit: number;
  readonly offset: number;
}

/** The received documents of a listing. Instants: `from` belongs to the range, `until` does not. */
export interface ReceivedFilter {
  readonly env: Environment;
  readonly buyerRnc: string;
  /** Null = every provider. */
  readonly issuerRnc: string | null;
  /** Null = whatever the authority says. */
  readonly authorityStatus: AuthorityStatus | null;
  /** Absent = all. */
  readonly criteria?: ReceivedCriteria;
  readonly from: Date;
  readonly until: Date;
  /** The days of issue, both included, instead of the times of receipt; null = the times count. */
  readonly issued: { readonly first: CalendarDate; readonly last: CalendarDate } | null;
}

/** A row of a listing, with the documents that compete for its number. */
export interface ListedDocument {
  readonly document: ReceivedDocument;
  /** Whether the issuer used the signer's key before in a confirmed document. */
  readonly known: boolean;
  /**
   * The stored ones, oldest first, at most `MAX_EVENT_CONFLICTS`. Certificates that signed for the issuer before come first,
   * then the first document of each other certificate.
   */
  readonly conflicts: readonly ListedConflict<Conflict>[];
  /** The latest hundred of those that are not kept, newest first. */
  readonly unkept: readonly ListedConflict[];
  /** How many there were in all. */
  readonly conflictsTotal: number;
}

/** Sums of received documents: decimals with two places, credit notes negative. */
export type ReceivedSums = Pick<
  ReceivedInvoiceAggregate,
  'total_invoices' | 'counted' | 'total_amount' | 'total_itbis' | 'by_month' | 'by_type' | 'by_status' | 'top_providers'
>;

/** A competing document, and whether the issuer used its signer's key before in a confirmed document. */
export interface ListedConflict<C extends UnkeptConflict = UnkeptConflict> {
  readonly conflict: C;
  readonly known: boolean;
}

/** Certification runs of taxpayers. */
export interface RunStore {
  /**
   * Documents that came to the taxpayer, or from it, before the start belong to the run before: they are kept, and no later look-up
   * finds them.
   */
  start(run: StartedRun): Promise<void>;
}

/**
 * Received and refused documents. A change of a received document also appends `received_invoice.changed` to the outbox,
 * in the same transaction.
 */
export interface DocumentStore {
  /** Which document holds a number. */
  holder(key: DocumentKey): Promise<NumberHolder | null>;
  /** Commits a document with the bytes of `files` and gives its id. Null, and nothing kept, if the number is taken. */
  add(document: NewReceivedDocument, files: readonly PendingDocument[]): Promise<number | null>;
  /**
   * Commits a refusal with the bytes of `files`. Motive 3 with other bytes than the document that holds the number is a
   * conflict of that document. The same bytes, or the same signed content, are one conflict, however often they come. A
   * listed conflict changes the document.
   */
  refuse(refusal: NewRefusedDocument, files: readonly PendingDocument[]): Promise<void>;
  /** Whether a document under this number was refused for this reason before. */
  wasRefused(refusal: Pick<NewRefusedDocument, 'key' | 'motive' | 'reason'>): Promise<boolean>;
  /**
   * The document with these bytes, or with this signed content, that competes with a received one: its bytes, null
   * where they were not kept, and whether the authority confirmed it. Null where there is none.
   */
  competitor(
    holderId: number,
    document: Pick<NewRefusedDocument, 'sha256' | 'contentSha256'>,
  ): Promise<{ kept: StoredBytes | null; confirmed: boolean } | null>;
  /** The kept bytes of a refused document under a number with this signed content. Null where there are none. */
  keptRefusal(key: DocumentKey, contentSha256: string): Promise<StoredBytes | null>;
  /** Notes when answers to documents, by id, left completely. The first note stays. */
  noteAnswered(answers: readonly (readonly [id: number, at: Date])[]): Promise<void>;
  /**
   * By the sort, then id. `created_at` is the time of receipt. `last` is the sort's value and the id of the last row if more
   * rows follow, else null.
   */
  list(
    filter: ReceivedFilter,
    page: Page,
  ): Promise<{ documents: ListedDocument[]; last: Pick<Place, 'value' | 'id'> | null }>;
  /** How many match. */
  count(filter: ReceivedFilter): Promise<number>;
  /** How many match and the sum of their amounts, two decimals. */
  totals(filter: ReceivedFilter): Promise<{ count: number; amount: string }>;
  /** Their sums, and those of the providers with the highest sums. */
  sums(filter: ReceivedFilter, topProviders: number): Promise<ReceivedSums>;
  /** Those of the given buyers under a number, newest first; all issuers where none is named. */
  byNumber(search: NumberSearch): Promise<ListedDocument[]>;
  /**
   * The acknowledgement of each buyer's received document; where none of them received one, of each buyer's latest refusal.
   * No more than two.
   */
  latestAcknowledgements(search: NumberSearch & { issuerRnc: string }): Promise<StoredBytes[]>;
  /** Follows the buyer's decision; older ones than the last are passed over. `eventId` makes a repeat do nothing. */
  decide(decision: ReceivedInvoiceDecision, eventId: string): Promise<void>;
  /** How many unanswered ones were received before an instant, by environment; no more than a hundred thousand are counted. */
  unansweredSince(before: Date): Promise<{ env: Environment; count: number }[]>;
  /** By id, from the first one after `afterId`. */
  page(afterId: number, limit: number): Promise<ListedDocument[]>;
}

export interface NumberSearch {
  readonly env: Environment;
  readonly buyerRncs: readonly string[];
  readonly issuerRnc: string | null;
  readonly encf: string;
}

/** Seeds that bought a token: each can do so once, on any instance. */
export interface SpentSeeds {
  /** False where it was spent before. */
  spend(id: string, expires: Date): Promise<boolean>;
  clean(now: Date): Promise<void>;
}

/** A key pair for providers' tokens. */
export interface TokenKey {
  readonly kid: string;
  readonly createdAt: Date;
  /** JSON Web Key of the public half. */
  readonly publicJwk: Record<string, unknown>;
  /** JSON Web Key of the private half. */
  readonly privateJwk: Record<string, unknown>;
}

/** Keys of all instances; private halves are sealed at rest. */
export interface TokenKeys {
  /** Newest first. */
  all(): Promise<TokenKey[]>;
  /** Adds `key` unless another instance added one created after `newestBefore`; forgets those created before `oldest`. */
  rotate(key: TokenKey, newestBefore: Date, oldest: Date): Promise<void>;
}

/** Validates XML in workers, within bounds on time and memory. Rejects with ReceptionError `unavailable` beyond them. */
export interface Validation {
  /** Rejects with ReceptionError `unreadable_document` where no acknowledgement is possible. */
  document(bytes: Uint8Array, now: Date): Promise<ValidationResult>;
  /** Rejects with ReceptionError `seed_refused` where the seed is not readable or its signature is not valid. */
  seed(bytes: Uint8Array, now: Date): Promise<SignedSeed>;
}

/** Reports failures to the operators. */
export interface Observer {
  failed(what: string, error: unknown): void;
}

export interface ReceptionSettings {
  /** Longest refused document that is kept. */
  readonly maxRefusedBytes: number;
  /** RNC of the taxpayer that signs for buyers we do not serve; null = such documents get no acknowledgement. */
  readonly signerRnc: string | null;
  /** Bytes of documents that compete for one number and are kept. */
  readonly maxCompetingBytes: number;
  /** Whether certificates of senders must lead to a trusted issuer. */
  readonly requireTrustedIssuer: boolean;
}

export interface Ports {
  readonly documents: DocumentStore;
  readonly runs: RunStore;
  readonly taxpayers: TaxpayerReplica;
  /** Null where the deployment has no gateway to query. */
  readonly source: TaxpayerSource | null;
  readonly certificates: Certificates;
  /** Before every signature. */
  readonly recordUse: RecordCertificateUse;
  readonly validation: Validation;
  /** Reads what the store committed, before and after it reaches the archive. */
  readonly archive: DocumentReader;
  readonly quotas: QuotaStore;
  /** Whether the RNC used the signer's key before in a confirmed document. */
  readonly isKnown: (use: SignerUse) => Promise<boolean>;
  readonly observer: Observer;
  readonly clock: () => Date;
}
