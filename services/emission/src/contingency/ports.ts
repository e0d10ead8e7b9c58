import type { Environment } from '@ecf/domain';
import type { ClaimRequest } from '@ecf/postgres/due-work';
import type { Attempt, DocumentKey } from '../attempt/attempt.js';

/** Milliseconds until the first probe. */
export const FIRST_PROBE_MS = 1_000;

/** Full documents and consumer summaries go to different hosts of the authority. */
export interface Destination {
  readonly env: Environment;
  readonly route: Attempt['route'];
}

/** Documents of a destination wait for the authority, or waited once. */
export interface Contingency extends Destination {
  /** Time of the first answer after the outage; null while the authority is unreachable. */
  readonly returnedAt: Date | null;
  /** Sends and logins in a row that did not reach the authority. */
  readonly failures: number;
  /** Documents a second that are sent. */
  readonly rate: number;
}

/** A document that waits. */
export interface WaitingDocument {
  readonly id: number;
  readonly issuerRnc: string;
  readonly encf: string;
  readonly signedAt: Date;
  /** The end of the 72 hours; null before the authority's return. */
  readonly deadline: Date | null;
}

export interface WaitingFilter {
  readonly accountId: string;
  /** Null = every taxpayer of the account. */
  readonly taxpayers: readonly string[] | null;
  readonly env: Environment;
  /** Id of the last one that the caller has; 0 = from the oldest. */
  readonly after: number;
  readonly limit: number;
}

export interface Outage {
  readonly now: Date;
  readonly rate: number;
  readonly dueAt: Date;
  /** False if the authority answered the login of one taxpayer: others may reach it. */
  readonly isForAll: boolean;
}

/** The documents of an environment that wait. */
export interface ContingencyBacklog {
  readonly env: Environment;
  readonly count: number;
  /** The earliest end of the 72 hours; null before the authority's return. */
  readonly deadline: Date | null;
}

/** How many documents wait. */
export interface WaitingDocuments {
  readonly total: number;
  /** Documents that are being sent, or are about to be. */
  readonly released: number;
  /** Documents of `released` that never failed: their outcome shows whether the authority answers. */
  readonly probing: number;
}

/** The queue of documents that were signed while the authority was unreachable. All instances share it. */
export interface ContingencyStore {
  /** Whether the authority is known to be unreachable for all taxpayers. */
  isUnreachable(destination: Destination): Promise<boolean>;
  /** Notes that a document waits, and returns since when the authority is unreachable. The first probe is at `dueAt`. */
  begin(destination: Destination, outage: Outage): Promise<Date>;
  /** Notes an answer of the authority. Returns when the authority returned: at its first answer. */
  reached(destination: Destination, now: Date): Promise<Date>;
  /** Sets the deadline of every document that was signed in contingency and has none. */
  setDeadlines(destination: Destination, deadline: Date): Promise<void>;
  /** Notes that the authority did not answer. */
  unreached(destination: Destination): Promise<void>;
  /** The authority answered a login, so it is not unreachable for all taxpayers: the next probe is due soon. */
  answered(destination: Destination, now: Date): Promise<void>;
  /** The document that was to probe the authority could not be sent: another one probes now. */
  probeNow(destination: Destination, now: Date): Promise<void>;
  claimDue(request: ClaimRequest): Promise<Contingency[]>;
  /** Releases documents to be sent now: first the ones that failed least often, then the oldest. Returns their number. */
  release(destination: Destination, limit: number, now: Date): Promise<number>;
  /** Counts the documents that wait, and those of them that are being sent. */
  waiting(destination: Destination, now: Date): Promise<WaitingDocuments>;
  save(contingency: Contingency, dueAt: Date): Promise<void>;
  /** No document waits: the next one is sent without a probe. */
  rest(destination: Destination, dueAt: Date): Promise<void>;
  /** Documents that wait beyond their deadline and do not have the alarm yet. */
  late(destination: Destination, now: Date, limit: number): Promise<DocumentKey[]>;
  /** The documents that wait, counted by environment. */
  backlog(): Promise<ContingencyBacklog[]>;
  list(filter: WaitingFilter): Promise<{ readonly total: number; readonly documents: readonly WaitingDocument[] }>;
}
