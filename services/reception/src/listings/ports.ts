import type { ApprovalStatus, AuthorityStatus, ListingSort, ReceivedInvoiceAggregate } from '@ecf/contracts';
import type { CalendarDate, EcfType, Environment } from '@ecf/domain';
import type { Conflict, ReceivedDocument, StoredBytes, UnkeptConflict } from '../receive/received-document.js';

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
export interface ListedDocument extends ReceivedDocument {
  /** Whether the issuer used the signer's key before in a confirmed document. */
  readonly known: boolean;
  /**
   * The stored ones, oldest first, at most `MAX_EVENT_CONFLICTS`. Certificates that signed for the issuer before come first,
   * then the first document of each other certificate.
   */
  readonly conflicts: readonly Conflict[];
  /** The latest hundred conflicts whose bytes were not kept, newest first. */
  readonly unkept: readonly UnkeptConflict[];
  /** The number of all conflicts. */
  readonly conflictsTotal: number;
}

/** Sums of received documents: decimals with two places, credit notes negative. */
export type ReceivedSums = Pick<
  ReceivedInvoiceAggregate,
  'total_invoices' | 'counted' | 'total_amount' | 'total_itbis' | 'by_month' | 'by_type' | 'by_status' | 'top_providers'
>;

/** The documents under a number. */
export interface NumberSearch {
  readonly env: Environment;
  readonly buyerRncs: readonly string[];
  readonly issuerRnc: string | null;
  readonly encf: string;
}

/** Reads received documents for listings, searches and other services. */
export interface ListingStore {
  /**
   * By the sort, then id. `created_at` is the time of receipt. `last` is the sort's value and the id of the last row if more
   * rows follow, else null.
   */
  list(
    filter: ReceivedFilter,
    page: Page,
  ): Promise<{ documents: ListedDocument[]; last: Pick<Place, 'value' | 'id'> | null }>;
  /** The number of documents that match. */
  count(filter: ReceivedFilter): Promise<number>;
  /** The number of documents that match, and the sum of their amounts with two decimals. */
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
  /** How many unanswered ones were received in a period, by environment; no more than a hundred thousand are counted. */
  unanswered(from: Date, until: Date): Promise<{ env: Environment; count: number }[]>;
  /** By id, from the first one after `afterId`. */
  page(afterId: number, limit: number): Promise<ListedDocument[]>;
}
