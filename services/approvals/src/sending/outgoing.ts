import type { Health } from '@ecf/authority-client';
import type { AuthoritySubmissionStatus, DeliveryBody, IssuerDeliveryStatus } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';

/** What is sent: an accepted e-CF to its buyer, or an approval to the authority or to the issuer of its e-CF. */
export type Kind = 'delivery' | 'authority' | 'issuer';

export type DeliveryStatus = DeliveryBody['delivery_status'];

/** Bytes in the XML store. */
export interface StoredBytes {
  readonly path: string;
  /** SHA-256 in lower-case hex. */
  readonly sha256: string;
}

/** The e-CF that is delivered, or that an approval is about. */
export interface EcfKey {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string;
  /** The certification run of the issuer; without it, the present one. */
  readonly run?: number | undefined;
}

/** A document that is sent until its recipient has decided, and the state of its sends. */
export interface Outgoing {
  readonly id: number;
  readonly kind: Kind;
  /** The approval that is sent; null for a delivery. */
  readonly approvalId: number | null;
  readonly key: EcfKey;
  readonly buyerRnc: string;
  readonly accountId: string;
  /** Sends to one recipient share its slots. */
  readonly recipient: string;
  readonly xml: StoredBytes;
  readonly status: DeliveryStatus | AuthoritySubmissionStatus | IssuerDeliveryStatus;
  readonly createdAt: Date;
  /** Null: it is tried until it is decided. */
  readonly deadlineAt: Date | null;
  /** Null once it has ended. */
  readonly dueAt: Date | null;
  /** Sends begun since sending was last requested. */
  readonly tries: number;
  readonly lastError: string | null;
  /** When it first may have reached its recipient. */
  readonly sentAt: Date | null;
  /** A send ended without a record, or a restore lost the record, so it may have reached its recipient. */
  readonly uncertain: boolean;
  /** The trace of its sends. */
  readonly traceparent: string | null;
  /** The recipient's host (origin) as last known, a hint for claims: sends use the directory. */
  readonly host: string | null;
}

/** A document that one instance holds until its lease ends. */
export interface Claimed extends Outgoing {
  readonly claim: string;
}

/** How a send ended, to be recorded. */
export interface Ending {
  readonly status: Outgoing['status'];
  readonly dueAt: Date | null;
  readonly error: string | null;
  /** When it may have reached its recipient; null if it did not leave. */
  readonly sentAt: Date | null;
  /** The host that the directory lists by now; null where it lists none or was not queried. */
  readonly host: string | null;
  /** No certificate could sign a login for the issuer. */
  readonly needsCertificate: boolean;
  /** For the circuit breaker of the recipient. */
  readonly health: Health;
  /** Milliseconds of the pause that the recipient requested, as far as it is obeyed. */
  readonly pauseMs: number;
  /** For metrics, for example `later`. */
  readonly outcome: string;
}

/** The result of a send for the circuit breaker of its recipient. */
export type Attempt = Pick<Ending, 'health' | 'pauseMs'>;

/** Sends a claimed document once and records how it ended. */
export type Send = (item: Claimed) => Promise<Attempt>;

/** All approvals to the authority share its slots. */
export const AUTHORITY = 'authority';

/** The recipient of deliveries to a buyer. */
export function buyerRecipient(env: Environment, buyerRnc: string): string {
  return `${env}:${buyerRnc}`;
}

/** The recipient of approvals to an issuer. */
export function issuerRecipient(env: Environment, issuerRnc: string): string {
  return `${env}:${issuerRnc}/approvals`;
}

/** Whether an earlier send of a claimed document may have reached its recipient. */
export function mayHaveArrived({ sentAt, uncertain }: Pick<Outgoing, 'sentAt' | 'uncertain'>): boolean {
  return sentAt !== null || uncertain;
}
