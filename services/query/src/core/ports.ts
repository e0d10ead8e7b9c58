import type { AuthorityClient } from '@ecf/authority-client';
import type {
  AftermathOperations,
  DeliveryChanged,
  EmissionOperations,
  IssuedInvoiceDecision,
  ReceptionOperations,
} from '@ecf/contracts';
import type { CalendarDate, Environment } from '@ecf/domain';
import type { TaxpayerSource } from '@ecf/service-kit/internal';
import type { DocumentReader } from '@ecf/service-kit/xml-store';
import type { TaxpayerReplica } from '@ecf/taxpayer-replica';
import type { InvoiceKey, IssuedInvoice, Outcome } from './invoices/issued-invoice.js';
import type { ReceivedRecord } from './invoices/received-record.js';
import type { ClientSums, InvoiceSums } from './sums/aggregate.js';

/** Dominican days of creation, both included. */
export interface InvoiceFilter {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly first: CalendarDate;
  readonly last: CalendarDate;
}

export interface Page {
  readonly limit: number;
  readonly offset: number;
}

/** An issued document with what other services tell of it. */
export type ShownInvoice = IssuedInvoice & Outcome;

/** The read models of issued documents and their sums. Documents that are not listed are nowhere in the answers. */
export interface InvoiceStore {
  /** Newest first by creation, then id; `total` is all that match. */
  list(filter: InvoiceFilter, page: Page): Promise<{ total: number; invoices: ShownInvoice[] }>;
  count(filter: InvoiceFilter): Promise<number>;
  /** Sums by month, type and status, and the buyers with the highest sums; of one moment. */
  sums(filter: InvoiceFilter, topClients: number): Promise<{ invoices: InvoiceSums[]; clients: ClientSums[] }>;
  find(key: InvoiceKey): Promise<ShownInvoice | null>;
  /** What the given issuers have under a number, listed or not. */
  byNumber(env: Environment, issuerRncs: readonly string[], encf: string): Promise<IssuedInvoice[]>;
  /** Revisions of an issuer's documents, listed or not. */
  revisions(issuer: Pick<InvoiceKey, 'env' | 'issuerRnc'>, encfs: readonly string[]): Promise<Map<string, number>>;
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
  /** Into the generation that a rebuild is filling. */
  loadInvoices(invoices: readonly IssuedInvoice[]): Promise<void>;
  loadReceived(received: readonly ReceivedRecord[]): Promise<void>;
}

/** Outcomes of issued documents. An outcome may arrive before its document. */
export interface OutcomeStore {
  keepDeliveries(deliveries: readonly DeliveryChanged[]): Promise<void>;
  keepDecisions(decisions: readonly IssuedInvoiceDecision[]): Promise<void>;
}

/** A new generation of the read models, filled beside the one that is read. */
export interface Generations {
  /** Begins one; from then on every change goes to both. Null where another instance is at it. */
  begin(): Promise<NewGeneration | null>;
  state(): Promise<RebuildState>;
  /** Notes that the owners hold nothing that was not told. */
  nothingToFill(): Promise<void>;
  /** Clears away what an instance that ended while rebuilding left. */
  clearAbandoned(): Promise<void>;
}

export interface NewGeneration {
  /** Notes how many documents were taken over. */
  progress(documents: number): Promise<void>;
  /** Puts it in the place of the one that is read. */
  takePlace(): Promise<void>;
  /** Gives it up; what is read stays as it is. */
  giveUp(reason: string): Promise<void>;
}

export interface RebuildState {
  readonly building: boolean;
  /** A generation was completed once. */
  readonly filled: boolean;
  readonly startedAt: Date | null;
  readonly finishedAt: Date | null;
  readonly documents: number;
  readonly failure: string | null;
}

export type Authority = Pick<
  AuthorityClient,
  | 'queryConsumerSummary'
  | 'queryState'
  | 'listDirectory'
  | 'findInDirectory'
  | 'serviceStatus'
  | 'maintenanceWindows'
  | 'environmentStatus'
>;

/** The authority's tokens. Only emission holds certificates, so it gives them. */
export type TokenSource = Pick<EmissionOperations, 'authorityToken'>;
/** Where issued documents come from, beside the events. */
export type InvoiceSource = Omit<EmissionOperations, 'authorityToken'>;
/** Where received documents come from, beside the events. */
export type ReceivedSource = Pick<ReceptionOperations, 'findReceived' | 'pageOfReceived'>;

/** Source of deliveries and buyers' decisions, beside the events. */
export type OutcomeSource = AftermathOperations;

/** What people who operate the service are told. */
export interface Observer {
  failed(what: string, error: unknown): void;
  /** A question to an owner before an answer is given: nothing new, something found, failed, not asked after a failure. */
  freshened(outcome: 'nothing' | 'found' | 'failed' | 'paused'): void;
}

export interface Ports {
  readonly invoices: InvoiceStore;
  readonly received: ReceivedStore;
  readonly projection: Projection;
  readonly taxpayers: TaxpayerReplica;
  readonly generations: Generations;
  /** The gateway; null where the deployment has none to query. */
  readonly source: TaxpayerSource | null;
  readonly invoiceSource: InvoiceSource;
  readonly receivedSource: ReceivedSource;
  readonly outcomes: OutcomeStore;
  /** Null where no service of the deployment has any. */
  readonly outcomeSource: OutcomeSource | null;
  readonly tokens: TokenSource;
  readonly authority: Authority;
  readonly issuedXml: DocumentReader;
  readonly receivedXml: DocumentReader;
  readonly observer: Observer;
  readonly clock: () => Date;
  /** Resolves after that many milliseconds. */
  readonly sleep: (ms: number) => Promise<void>;
}
