import type { ReceiverClient } from '@ecf/authority-client';
import type { DeliveryFilter } from '@ecf/contracts';
import type { Environment } from '@ecf/domain';
import type { TrustCheck } from '@ecf/public-ingress';
import type { NewAcknowledgement, StoredAcknowledgement } from '../acknowledgements/acknowledgement.js';
import type { Ports } from '../ports.js';
import type { ClaimedDelivery, Delivery, DeliveryKey, DeliveryStatus, NewDelivery } from './delivery.js';

/** A receiver's name among the claims: environment, and the RNC of the buyer or the host (origin) of its receiver. */
export type LaneName = `${Environment}:${string}`;

/** What may be claimed now. */
export interface ClaimRequest {
  readonly now: Date;
  /** Claims whose lease ended later stay with whoever has them. */
  readonly lapsedBy: Date;
  /** The lease: until then nobody else takes it up. */
  readonly until: Date;
  readonly limit: number;
  /** Claims for one receiver at once. */
  readonly perLane: number;
  /** Receivers that get nothing now. */
  readonly blocked: readonly LaneName[];
  /** Receivers that get several at once; all others get one. */
  readonly proven: readonly LaneName[];
  /** Hosts that get nothing now. */
  readonly blockedHosts: readonly LaneName[];
  /** Hosts that get several now, with how many; all others get one. */
  readonly roomyHosts: Readonly<Record<LaneName, number>>;
}

/** How an attempt ended, to be written down. */
export interface Conclusion {
  readonly status: DeliveryStatus;
  readonly dueAt: Date | null;
  readonly error: string | null;
  readonly acknowledgement: NewAcknowledgement | null;
  /** Nobody could sign in for the issuer. */
  readonly needsCertificate: boolean;
}

/** A conclusion, and the host that the directory names by now; null where it names none or was not asked. */
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

/** Deliveries and the acknowledgements they brought. A change of status, and the end, append `delivery.changed` in their transaction. */
export interface DeliveryStore {
  /** Commits a new delivery once; one that is there already stays as it is. True where it was new. */
  add(delivery: NewDelivery, eventId: string): Promise<boolean>;
  /**
   * Claims due deliveries, oldest first, and counts the try. No two instances claim the same. More may be due behind those of
   * receivers and hosts that have all their slots in use: claim again with these blocked.
   */
  claimDue(request: ClaimRequest): Promise<ClaimedDelivery[]>;
  /** Keeps claims of sends that are still under way. */
  keep(claims: readonly ClaimedDelivery[], until: Date): Promise<void>;
  /**
   * Writes down how an attempt ended. What another instance took over meanwhile stays that one's, unless this attempt
   * delivered: that counts in any case, and nothing undoes it. The acknowledgement is kept always. Throws Unwritable.
   */
  conclude(delivery: ClaimedDelivery, conclusion: HostedConclusion): Promise<Delivery>;
  /** Gives a claim back unused: it waits for a place at that host. Not counted as a try. */
  defer(delivery: ClaimedDelivery, host: string, now: Date): Promise<void>;
  /**
   * What is past its deadline at receivers and hosts that are left alone has failed: their single probes would come to it
   * long after. Returns those that failed now.
   */
  giveUp(at: {
    readonly now: Date;
    readonly lanes: readonly LaneName[];
    readonly hosts: readonly LaneName[];
  }): Promise<Delivery[]>;
  /**
   * Due at once, with a new deadline; null where there is none, unchanged where the buyer has the document, and where it
   * goes to nobody, unless type 45 is delivered by now.
   */
  retry(key: DeliveryKey, now: Date, deadlineAt: Date, deliver45: boolean): Promise<Delivery | null>;
  /** Deliveries of the issuer that nobody could sign in for are due now; returns how many. */
  resume(issuerRnc: string, now: Date): Promise<number>;
  /** Newest first. */
  list(filter: DeliveryFilter): Promise<Delivery[]>;
  /** Of those that are not over. */
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

/** What people who operate deliveries are told. */
export interface DeliveryObserver {
  failed(what: string, error: unknown, key?: DeliveryKey): void;
  /** An attempt ended; `outcome` is a short word. */
  attempted(delivery: Delivery, outcome: string, ms: number): void;
  /** A delivery reached a status. */
  changed(delivery: Delivery, status: DeliveryStatus): void;
  acknowledged(acknowledgement: NewAcknowledgement): void;
  /** A receiver, or a host with all its receivers, is left alone for a while. */
  opened(lane: LaneName, until: Date): void;
}

export interface DeliverySettings {
  readonly firstRetryMs: number;
  readonly deadlineMs: number;
  /** How long a send is one instance's before another may take it up; it is prolonged while the send is under way. */
  readonly leaseMs: number;
  readonly deliver45: boolean;
}

export interface DeliveryPorts
  extends Pick<
    Ports,
    'taxpayers' | 'source' | 'certificates' | 'signing' | 'issuedXml' | 'receivers' | 'clock' | 'elapsed' | 'random'
  > {
  readonly deliveries: DeliveryStore;
  readonly buyers: Pick<ReceiverClient, 'deliverDocument'>;
  readonly trust: TrustCheck;
  readonly deliveryObserver: DeliveryObserver;
  readonly deliverySettings: DeliverySettings;
  /** Milliseconds that pass whether the process ends or not. */
  readonly wait: (ms: number) => Promise<void>;
  /** Whether the process was told to end. */
  readonly ending: () => boolean;
  /** Called between steps; tests end the process there. */
  readonly checkpoint: (step: 'claimed' | 'answered' | 'recorded') => Promise<void> | void;
}
