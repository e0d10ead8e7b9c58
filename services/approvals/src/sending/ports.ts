import type { ClaimRequest } from '@ecf/postgres/due-work';
import type { Claimed, EcfKey, Outgoing } from './outgoing.js';

/** The slots that a claim may fill. */
export interface FreeSlots {
  /** Recipients to which no document is sent now. */
  readonly busyRecipients: readonly string[];
  /** Recipients that get several; any other gets one. */
  readonly recipientSlots: Readonly<Record<string, number>>;
  /** Hosts (origins) to which no document is sent now. */
  readonly busyHosts: readonly string[];
  /** Hosts with sends in flight; any other gets `slotsPerHost`. */
  readonly hostSlots: Readonly<Record<string, number>>;
  readonly slotsPerHost: number;
  /** Ids of the documents that this process sends now. They are not claimed again, also if their leases ended. */
  readonly inFlight: readonly number[];
}

/** Documents that are sent, of any kind. */
export interface OutgoingStore {
  /**
   * Claims due documents for the free slots, oldest first, and counts the try. No two instances claim the same. A claim
   * examines a bounded number of rows, so more may be due behind those of busy recipients and hosts.
   */
  claimDue(request: ClaimRequest & FreeSlots): Promise<Claimed[]>;
  /** Extends the leases of sends in flight. */
  renew(items: readonly Claimed[], until: Date): Promise<void>;
  /** Gives a claim back, due again at `dueAt`: the recipient gets no calls now. It does not count as a try. */
  defer(item: Claimed, host: string | null, dueAt: Date): Promise<void>;
  /** Fails the deliveries past their deadline of buyers and hosts that get no calls now, and returns them. */
  giveUp(at: {
    readonly now: Date;
    readonly recipients: readonly string[];
    readonly hosts: readonly string[];
  }): Promise<Outgoing[]>;
}

/** Reports failures to the operators. */
export interface FailureReport {
  failed(what: string, error: unknown, key?: EcfKey): void;
}
