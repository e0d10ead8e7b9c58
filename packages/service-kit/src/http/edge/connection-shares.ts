import type { Connection } from './connection.js';
import { SITE_FACTOR, senderNetwork, senderSite } from './sender-network.js';

/** How many connections one sender may have; an IPv6 network is one sender. */
export interface SenderConnections {
  /** Of an IPv4 address or an IPv6 /64; an IPv6 /48 may have {@link SITE_FACTOR} times as many. */
  max: number;
  /** Whether a peer stands for many senders, as a proxy does, and is not counted. */
  isProxy: (address: string) => boolean;
}

/**
 * Why a connection is closed: its sender has too many, all together do, it made room for a sender that has few, or its answer
 * was not read.
 */
export type ConnectionRefusal = 'sender' | 'all' | 'gave_way' | 'unread';

interface Open {
  readonly network: string;
  readonly site: string | null;
}

/** Connections of a site, each part in the order in which they go. */
interface Held {
  /** On which no answer is being made, first the one on which longest nothing was answered. */
  readonly idle: Set<Connection>;
  readonly busy: Set<Connection>;
}

/**
 * Open connections by sender. Where all places are taken, a newcomer gets that of whoever holds most (of an IPv6 address: its
 * /48): of the connections on which no answer is being made the one on which longest no request was answered, of the others only
 * where there is none. A newcomer that would hold as many itself is refused, so a few senders bar nobody who has few.
 */
export class ConnectionShares {
  readonly #open = new Map<Connection, Open>();
  readonly #byNetwork = new Map<string, number>();
  readonly #bySite = new Map<string, Held>();
  /** Sites by the number of their connections, so that the largest is known without a search. */
  readonly #sized: Set<string>[] = [];

  constructor(
    private readonly max: number,
    private readonly perSender?: SenderConnections,
  ) {}

  /**
   * Counts a connection until `remove`; `closing` is the one that has to go for it. A refusal where it is too many.
   * @param address as plain as it can be
   */
  add(connection: Connection, address: string): { closing: Connection | null } | { refused: 'sender' | 'all' } {
    const network = senderNetwork(address);
    const site = this.perSender?.isProxy(address) ? null : senderSite(address);
    const held = site === null ? 0 : sizeOf(this.#bySite.get(site));
    if (site !== null && this.perSender !== undefined) {
      const { max } = this.perSender;
      if ((this.#byNetwork.get(network) ?? 0) >= max || held >= max * SITE_FACTOR) return { refused: 'sender' };
    }
    let closing: Connection | null = null;
    if (this.#open.size >= this.max) {
      const most = this.#sized.length - 1;
      if (most <= held + 1) return { refused: 'all' };
      const [largest = ''] = this.#sized[most] ?? [];
      const going = this.#bySite.get(largest);
      closing = first(going?.idle) ?? first(going?.busy);
      if (closing !== null) this.remove(closing);
    }
    this.#open.set(connection, { network, site });
    if (site !== null) this.#count(connection, network, site);
    return { closing };
  }

  /** An answer is being made on the connection. */
  begun(connection: Connection): void {
    const held = this.#heldWith(connection);
    if (held?.idle.delete(connection)) held.busy.add(connection);
  }

  /** Something was answered on the connection. */
  answered(connection: Connection): void {
    const held = this.#heldWith(connection);
    if (held?.busy.delete(connection) || held?.idle.delete(connection)) held.idle.add(connection);
  }

  remove(connection: Connection): void {
    const open = this.#open.get(connection);
    if (open === undefined) return;
    this.#open.delete(connection);
    if (open.site === null) return;
    const others = (this.#byNetwork.get(open.network) ?? 1) - 1;
    if (others > 0) this.#byNetwork.set(open.network, others);
    else this.#byNetwork.delete(open.network);
    const held = this.#bySite.get(open.site);
    if (!held?.idle.delete(connection) && !held?.busy.delete(connection)) return;
    const left = sizeOf(held);
    this.#move(open.site, left + 1, left);
    if (left === 0) this.#bySite.delete(open.site);
  }

  #heldWith(connection: Connection): Held | undefined {
    const site = this.#open.get(connection)?.site;
    return site == null ? undefined : this.#bySite.get(site);
  }

  #count(connection: Connection, network: string, site: string): void {
    this.#byNetwork.set(network, (this.#byNetwork.get(network) ?? 0) + 1);
    const held = this.#bySite.get(site) ?? { idle: new Set(), busy: new Set() };
    held.idle.add(connection);
    this.#bySite.set(site, held);
    this.#move(site, sizeOf(held) - 1, sizeOf(held));
  }

  #move(site: string, from: number, to: number): void {
    this.#sized[from]?.delete(site);
    if (to > 0) {
      this.#sized[to] ??= new Set();
      this.#sized[to].add(site);
    }
    while (this.#sized.length > 0 && (this.#sized.at(-1)?.size ?? 0) === 0) this.#sized.pop();
  }
}

function sizeOf(held: Held | undefined): number {
  return held === undefined ? 0 : held.idle.size + held.busy.size;
}

function first(connections: ReadonlySet<Connection> | undefined): Connection | null {
  const [connection = null] = connections ?? [];
  return connection;
}
