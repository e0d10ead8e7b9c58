import type {
  DeliveryChanged,
  EmissionOperations,
  IssuedInvoiceDecision,
  ListingSort,
  OutcomeOperations,
  Period,
  ReceptionOperations,
} from '@ecf/contracts';
import type { CalendarDate, EcfType, Environment, InvoiceStatus } from '@ecf/domain';
import type { Sums } from './aggregate.js';
import type { InvoiceKey, IssuedInvoice, Outcome } from './issued-invoice.js';
import type { ReceivedRecord } from './received-record.js';

/** Days of creation (Dominican) or of issue, both included. */
export interface InvoiceFilter {
  readonly period: Period;
  /** With the certification run, as {@link storedEnvironment} writes it. */
  readonly env: string;
  readonly issuerRnc: string;
  readonly first: CalendarDate;
  readonly last: CalendarDate;
}

export type DeliveryStatus = DeliveryChanged['delivery_status'];

/** Which documents of a period are wanted; null = any. */
export interface InvoiceCriteria {
  readonly status: InvoiceStatus | null;
  readonly ecfType: EcfType | null;
  readonly buyerRnc: string | null;
  /** Part of the buyer's name; the case and the accents of letters do not count. */
  readonly buyerName: string | null;
  readonly deliveryStatuses: readonly DeliveryStatus[] | null;
  /** Only rejected documents with this code in their messages. */
  readonly messageCode: string | null;
  /** The number that notes modify. */
  readonly modifiedEncf: string | null;
  /** The caller's own reference. */
  readonly reference: string | null;
  /** Bounds of the amount that a document states, both included; decimal texts. */
  readonly minAmount: string | null;
  readonly maxAmount: string | null;
  /** Only documents that changed then or later. */
  readonly updatedSince: Date | null;
  /** True = documents of earlier certification runs too. */
  readonly superseded: true | null;
}

/** The last row of a page: its value of the sort, its id, and how many rows matched when the first page was read. */
export interface Place {
  readonly value: string;
  readonly id: number;
  readonly total: number;
}

export interface Page {
  readonly criteria: InvoiceCriteria;
  readonly sort: ListingSort;
  /** The page begins after this place; null = at `offset`. */
  readonly place: Place | null;
  readonly limit: number;
  readonly offset: number;
}

/** An issued document with its outcome. */
export type ShownInvoice = IssuedInvoice & Outcome;

/** The read models of issued documents and their sums. No answer contains unlisted documents. */
export interface InvoiceStore {
  /** By the sort, then id; `total` is all that match. `next` is the place of the next page, null after the last row. */
  list(filter: InvoiceFilter, page: Page): Promise<{ total: number; invoices: ShownInvoice[]; next: Place | null }>;
  count(filter: InvoiceFilter): Promise<number>;
  /** Sums of one snapshot, with the buyers of the highest ones. */
  sums(filter: InvoiceFilter, topClients: number): Promise<Sums>;
  find(key: InvoiceKey): Promise<ShownInvoice | null>;
  /** The documents of the issuers, each in its run, under a number; listed or not. */
  byNumber(issuers: readonly Pick<InvoiceKey, 'env' | 'issuerRnc'>[], encf: string): Promise<IssuedInvoice[]>;
}

/** The present certification run of each issuer. */
export interface RunStore {
  /** The runs of the issuers, in their order. */
  present(env: Environment, issuerRncs: readonly string[]): Promise<number[]>;
  /** Notes that a run began. A run earlier than the noted one has no effect. */
  note(runs: readonly { readonly env: Environment; readonly issuerRnc: string; readonly run: number }[]): Promise<void>;
}

export interface ReceivedSearch {
  readonly env: Environment;
  readonly buyerRncs: readonly string[];
  /** Null = every provider. */
  readonly issuerRnc: string | null;
  readonly encf: string;
}

export interface ReceivedStore {
  /** Newest first. */
  byNumber(search: ReceivedSearch): Promise<ReceivedRecord[]>;
}

/** Changes the read models and their sums in one transaction each. The highest revision of a document wins. */
export interface Projection {
  keepInvoices(invoices: readonly IssuedInvoice[]): Promise<void>;
  keepReceived(received: readonly ReceivedRecord[]): Promise<void>;
}

/** Outcomes of issued documents. An outcome may arrive before its document. */
export interface OutcomeStore {
  keepDeliveries(deliveries: readonly DeliveryChanged[]): Promise<void>;
  keepDecisions(decisions: readonly IssuedInvoiceDecision[]): Promise<void>;
}

/** Source of issued documents, beside the events. */
export type InvoiceSource = Pick<EmissionOperations, 'findInvoices' | 'pageOfInvoices' | 'rawAnswers'>;
/** Source of received documents, beside the events. */
export type ReceivedSource = Pick<ReceptionOperations, 'findReceived' | 'pageOfReceived'>;

/** Source of deliveries and buyers' decisions, beside the events. */
export type OutcomeSource = OutcomeOperations;
