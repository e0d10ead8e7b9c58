import type { DirectoryEntry } from '@ecf/authority-client';
import type { Environment } from '@ecf/domain';
import type { DeliveryLanes, LaneSign } from './delivery-lanes.js';
import type { LaneName } from './delivery-ports.js';

/** The machines that one attempt keeps busy. Many receivers may share one: a provider's clients do. */
export class HostVisit {
  readonly #signs = new Map<LaneName, LaneSign>();
  #expected: LaneName | null;

  /** Takes a place at the host as last known, until the directory tells which it is. */
  constructor(
    private readonly hosts: Pick<DeliveryLanes, 'admits' | 'begin' | 'end'>,
    private readonly env: Environment,
    private readonly buyerRnc: string,
    expected: string | null,
  ) {
    this.#expected = expected === null ? null : `${env}:${expected}`;
    if (this.#expected !== null) this.hosts.begin(this.#expected);
  }

  /** Takes a place at each host. Where one has none, no place is taken, and that host is given. */
  enter(hosts: readonly string[]): string | null {
    this.#expectNone();
    const full = hosts.find((host) => !this.hosts.admits(`${this.env}:${host}`));
    if (full !== undefined) return full;
    for (const host of hosts) {
      this.hosts.begin(`${this.env}:${host}`);
      this.#signs.set(`${this.env}:${host}`, 'unknown');
    }
    return null;
  }

  /** What the attempt says about one of them. A pause that is asked for is the buyer's alone: others there are not meant. */
  tell(host: string, sign: LaneSign): void {
    this.#signs.set(`${this.env}:${host}`, sign);
  }

  /** Gives the places back. */
  leave(): void {
    this.#expectNone();
    for (const [name, sign] of this.#signs) this.hosts.end(name, sign, 0, `${this.env}:${this.buyerRnc}`);
    this.#signs.clear();
  }

  #expectNone(): void {
    if (this.#expected !== null) this.hosts.end(this.#expected, 'unknown');
    this.#expected = null;
  }
}

/** The host that receives documents, as it stands in the directory; null where the address names none. */
export function receivingHost(entry: Pick<DirectoryEntry, 'receptionUrl'>): string | null {
  return entry.receptionUrl === null ? null : originOf(entry.receptionUrl);
}

/**
 * The host that lets in, where the receiver offers that. One that is not the receiving host counts for those alone that
 * receive where this entry does: whoever lists somebody else's host as its own door harms nobody there.
 */
export function admittingHost(entry: Pick<DirectoryEntry, 'authenticationUrl' | 'receptionUrl'>): string | null {
  const door = entry.authenticationUrl === null ? null : originOf(entry.authenticationUrl);
  const host = receivingHost(entry);
  return door === null || door === host ? door : `${door} for ${host}`;
}

/** The machine of an address; null where that is none. */
export function originOf(address: string): string | null {
  return URL.canParse(address) ? new URL(address).origin : null;
}
