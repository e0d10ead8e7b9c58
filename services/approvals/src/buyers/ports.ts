import type { AuditAct, DeliveryFilter } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { Claimed, EcfKey, Ending } from '../sending/outgoing.js';
import type { NewAcknowledgement, StoredAcknowledgement } from './acknowledgement.js';
import type { Delivery, DeliveryStatus, NewDelivery } from './delivery.js';

/** How a delivery ended, with the acknowledgement that it brought, or null if it brought none. */
export interface DeliveryEnding extends Ending {
  readonly status: DeliveryStatus;
  readonly acknowledgement: NewAcknowledgement | null;
}

/** A new delivery, and the event that caused it. */
export interface DeliveryAddition {
  readonly delivery: NewDelivery;
  readonly eventId: string;
}

/** The number of deliveries with a status, and when the oldest of them was added. */
export interface DeliveryBacklog {
  readonly env: Environment;
  readonly status: DeliveryStatus;
  readonly count: number;
  readonly oldest: Date;
}

/** Deliveries and their acknowledgements. A change of status, and the end, append `delivery.changed` in the same transaction. */
export interface DeliveryStore {
  /** Commits new deliveries once; an existing one stays as it is. True if one of the new ones is pending. */
  add(additions: readonly DeliveryAddition[]): Promise<boolean>;
  /**
   * Records how a delivery ended. A row that another instance took over stays unchanged, unless this one delivered. The
   * acknowledgement is always kept. Throws Unwritable.
   */
  conclude(delivery: Claimed, ending: DeliveryEnding): Promise<Delivery>;
  /**
   * Makes a delivery due immediately, with a new deadline; null if it does not exist. It stays unchanged if the buyer has the
   * document, and if it is not delivered, unless type 45 is delivered by now.
   */
  retry(key: EcfKey, at: RetryRequest): Promise<Delivery | null>;
  /** Makes the issuer's deliveries due that waited for a certificate; returns how many. */
  resume(issuerRnc: string, now: Date): Promise<number>;
  /** Newest first. */
  list(filter: DeliveryFilter): Promise<Delivery[]>;
  /** Deliveries that have not ended, by status. */
  backlog(): Promise<DeliveryBacklog[]>;
}

export interface RetryRequest {
  readonly now: Date;
  readonly deadlineAt: Date;
  readonly deliver45: boolean;
  readonly act: AuditAct | null;
}

/** Which acknowledgements of an issuer are listed; null = any. */
export interface AcknowledgementFilter {
  readonly env: Environment;
  readonly issuerRnc: string;
  readonly encf: string | null;
  readonly receiptStatus: 0 | 1 | null;
  readonly limit: number;
  readonly offset: number;
}

/** Acknowledgements that buyers returned. */
export interface AcknowledgementStore {
  /** Newest first by receipt, then id. */
  list(filter: AcknowledgementFilter): Promise<StoredAcknowledgement[]>;
  /** The latest valid one, else the latest. */
  find(key: EcfKey): Promise<StoredAcknowledgement | null>;
}

/** Reports to the operators. */
export interface DeliveryReport {
  failed(what: string, error: unknown, key?: EcfKey): void;
  /** An attempt ended; `outcome` is a short word. */
  attempted(delivery: Pick<Claimed, 'key'>, outcome: string, ms: number): void;
  /** A delivery reached a status. */
  changed(delivery: Pick<Claimed, 'key' | 'buyerRnc' | 'lastError' | 'createdAt'>, status: string): void;
  acknowledged(acknowledgement: NewAcknowledgement): void;
}
