import type { CircuitBreakers, ReceiverClient } from '@ecf/authority-client';
import type { AuditAct, DeliveryFilter } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { TrustCheck } from '@ecf/public-ingress';
import type { Ports } from '../ports.js';
import type { NewAcknowledgement, StoredAcknowledgement } from './acknowledgement.js';
import type { ClaimedDelivery, Delivery, DeliveryKey, DeliveryStatus, NewDelivery } from './delivery.js';

/** The name of a buyer among circuit breakers and claims: environment and RNC. */
export type BuyerName = `${Environment}:${string}`;

/** The slots that a claim may fill. */
export interface FreeSlots {
  /** Buyers that get nothing now. */
  readonly busyBuyers: readonly BuyerName[];
  /** Buyers that get several; any other gets one. */
  readonly buyerSlots: Readonly<Record<BuyerName, number>>;
  /** Hosts (origins) that get nothing now. */
  readonly busyHosts: readonly string[];
  /** Hosts with deliveries in flight; any other gets `slotsPerHost`. */
  readonly hostSlots: Readonly<Record<string, number>>;
  readonly slotsPerHost: number;
}

export interface ClaimRequest extends FreeSlots {
  readonly now: Date;
  /** A claim whose lease ended later than this is not taken over. */
  readonly lapsedBy: Date;
  /** Deliveries in flight in this instance. A clock that is set may end their leases; they are not claimed again. */
  readonly inFlight: readonly number[];
  /** End of the lease: no other instance takes it over before. */
  readonly until: Date;
  readonly limit: number;
}

/** How an attempt ended, to be recorded. */
export interface Conclusion {
  readonly status: DeliveryStatus;
  readonly dueAt: Date | null;
  readonly error: string | null;
  readonly acknowledgement: NewAcknowledgement | null;
  /** No certificate could sign a login for the issuer. */
  readonly needsCertificate: boolean;
}

/** With the host that the directory lists by now; null where it lists none or was not queried. */
export interface HostedConclusion extends Conclusion {
  readonly host: string | null;
}

/** How many deliveries have a status, and since when the oldest. */
export interface DeliveryBacklog {
  readonly env: Environment;
  readonly status: DeliveryStatus;
  readonly count: number;
  readonly oldest: Date;
}

/** A new delivery, and the event that asked for it. */
export interface DeliveryAddition {
  readonly delivery: NewDelivery;
  readonly eventId: string;
}

/**
 * Deliveries and the acknowledgements they brought. A change of status, and the end, append `delivery.changed` in their
 * transaction.
 */
export interface DeliveryStore {
  /** Commits new deliveries once; one that is there already stays as it is. True if one of the new ones is pending. */
  add(additions: readonly DeliveryAddition[]): Promise<boolean>;
  /**
   * Claims due deliveries for the free slots, oldest first, and counts the try. No two instances claim the same. A claim looks
   * at a bounded number of rows, so more may be due behind those of busy buyers and hosts.
   */
  claimDue(request: ClaimRequest): Promise<ClaimedDelivery[]>;
  /** Extends the leases of attempts in flight. */
  renewLeases(claims: readonly ClaimedDelivery[], until: Date): Promise<void>;
  /**
   * Records how an attempt ended. A row that another instance took over stays unchanged, unless this attempt delivered: that
   * always counts. The acknowledgement is always kept. Throws Unwritable.
   */
  conclude(delivery: ClaimedDelivery, conclusion: HostedConclusion): Promise<Delivery>;
  /** Gives a claim back, due again at `dueAt`: the receiver gets no calls now. It does not count as a try. */
  defer(delivery: ClaimedDelivery, host: string | null, dueAt: Date): Promise<void>;
  /**
   * Fails the deliveries past their deadline of buyers and hosts that get no calls now, and returns them.
   */
  giveUp(at: {
    readonly now: Date;
    readonly buyers: readonly BuyerName[];
    readonly hosts: readonly string[];
  }): Promise<Delivery[]>;
  /**
   * Makes a delivery due at once, with a new deadline. Null where there is none. Unchanged where the buyer has the document, and
   * where it goes to nobody, unless type 45 is delivered by now.
   */
  retry(
    key: DeliveryKey,
    now: Date,
    deadlineAt: Date,
    deliver45: boolean,
    act: AuditAct | null,
  ): Promise<Delivery | null>;
  /** Makes the issuer's deliveries due that waited for a certificate; returns how many. */
  resume(issuerRnc: string, now: Date): Promise<number>;
  /** Newest first. */
  list(filter: DeliveryFilter): Promise<Delivery[]>;
  /** Deliveries that have not ended, by status. */
  backlog(): Promise<DeliveryBacklog[]>;
}

/** Acknowledgements that buyers returned. */
export interface AcknowledgementStore {
  /** Newest first by receipt, then id. */
  list(filter: {
    env: Environment;
    issuerRnc: string;
    encf: string | null;
    receiptStatus: 0 | 1 | null;
    limit: number;
    offset: number;
  }): Promise<StoredAcknowledgement[]>;
  /** The latest valid one, else the latest. */
  find(key: DeliveryKey): Promise<StoredAcknowledgement | null>;
}

/** Reports to the operators. */
export interface DeliveryObserver {
  failed(what: string, error: unknown, key?: DeliveryKey): void;
  /** An attempt ended; `outcome` is a short word. */
  attempted(delivery: Delivery, outcome: string, ms: number): void;
  /** A delivery reached a status. */
  changed(delivery: Delivery, status: DeliveryStatus): void;
  acknowledged(acknowledgement: NewAcknowledgement): void;
  /** A buyer (environment and RNC) gets no calls for so many milliseconds. */
  paused(buyer: string, pauseMs: number): void;
}

export interface DeliverySettings {
  readonly firstRetryMs: number;
  readonly deadlineMs: number;
  /** Milliseconds of a lease, which is renewed while the attempt is in flight. */
  readonly leaseMs: number;
  readonly deliver45: boolean;
}

export interface DeliveryPorts
  extends Pick<
    Ports,
    | 'taxpayers'
    | 'source'
    | 'certificates'
    | 'emission'
    | 'openRequestCertificate'
    | 'issuedXml'
    | 'receivers'
    | 'runs'
    | 'clock'
    | 'elapsed'
    | 'random'
  > {
  readonly deliveries: DeliveryStore;
  readonly buyers: Pick<ReceiverClient, 'deliverDocument'>;
  /** One circuit breaker for each buyer, around an attempt. */
  readonly buyerCircuits: CircuitBreakers;
  /** Those of the receiver client, one for each host. */
  readonly hostCircuits: Pick<CircuitBreakers, 'waitMs' | 'waiting'>;
  readonly trust: TrustCheck;
  readonly deliveryObserver: DeliveryObserver;
  readonly deliverySettings: DeliverySettings;
  /** A pause that the end of the process does not cut short. */
  readonly wait: (ms: number) => Promise<void>;
  readonly stopping: () => boolean;
  /** Called between steps; tests stop the process there. */
  readonly checkpoint: (step: 'claimed' | 'answered' | 'recorded') => Promise<void> | void;
}
