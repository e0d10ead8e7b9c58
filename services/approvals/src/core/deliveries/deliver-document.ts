import type { Answer, DeliveryAnswer, DirectoryEntry } from '@ecf/authority-client';
import { LoginError } from '@ecf/authority-client/login';
import { ReceiverLoginError } from '../receivers/receiver-logins.js';
import type { Caller } from '../receivers/receivers.js';
import type { ClaimedDelivery, Delivery } from './delivery.js';
import { DeliveryCaller } from './delivery-caller.js';
import { type Ending, later, withoutReceiver, wordsOf } from './delivery-ending.js';
import type { LaneSign } from './delivery-lanes.js';
import type { DeliveryPorts } from './delivery-ports.js';
import { admittingHost, type HostVisit, receivingHost } from './host-visit.js';
import { JudgeDelivery } from './judge-delivery.js';
import { RecordDelivery } from './record-delivery.js';

/** What an attempt means for its receiver. */
export interface Attempt {
  readonly delivery: Delivery;
  readonly sign: LaneSign;
  /** The receiver asked to be left alone for so long. */
  readonly pauseMs: number;
}

/** An answer came, or none did where one was to come. */
interface Reached {
  readonly answer: Answer<DeliveryAnswer>;
  readonly caller: Caller;
  readonly entry: DirectoryEntry;
  readonly host: string | null;
  readonly door: string | null;
}

/** Its host has no place now. */
interface Deferral {
  readonly deferredAt: string;
}

/** A login that failed here. */
const REFUSED = { trouble: 'refused', pauseMs: 0 } as const;

/**
 * One attempt to deliver an e-CF: the receiver's address, its token, the very bytes that the authority accepted, and what
 * the answer says. Each step can be repeated after a crash: the same bytes go out again, and a receiver that has them says
 * so (motive 3), which counts as delivered.
 */
export class DeliverDocument {
  readonly #caller: DeliveryCaller;
  readonly #judge: JudgeDelivery;
  readonly #record: RecordDelivery;

  constructor(private readonly ports: DeliveryPorts) {
    this.#caller = new DeliveryCaller(ports);
    this.#judge = new JudgeDelivery(ports);
    this.#record = new RecordDelivery(ports);
  }

  /** The attempt as it was written down; null where a host has no place for it now, and it waits for one. */
  async attempt(delivery: ClaimedDelivery, visit: Pick<HostVisit, 'enter' | 'tell'>): Promise<Attempt | null> {
    const began = this.ports.clock().getTime();
    const found: { host: string | null } = { host: null };
    const ending = await this.#try(delivery, visit, found);
    if ('deferredAt' in ending) {
      await this.ports.deliveries.defer(delivery, ending.deferredAt, this.ports.clock());
      return null;
    }
    const { after, conclusion, sign, pauseMs, word } = await this.#record.written(delivery, ending, found.host);
    await this.ports.checkpoint('recorded');
    if (conclusion.acknowledgement !== null) this.ports.deliveryObserver.acknowledged(conclusion.acknowledgement);
    this.ports.deliveryObserver.attempted(after, word, this.ports.clock().getTime() - began);
    if (after.status !== delivery.status) this.ports.deliveryObserver.changed(after, after.status);
    return { delivery: after, sign, pauseMs };
  }

  async #try(
    delivery: ClaimedDelivery,
    visit: Pick<HostVisit, 'enter' | 'tell'>,
    found: { host: string | null },
  ): Promise<Ending | Deferral> {
    // Whatever goes wrong before there is an answer costs a pause, and is over at the deadline.
    const reached = await this.#reach(delivery, visit, found).catch((error: unknown) => {
      this.ports.deliveryObserver.failed('beginning a delivery', error, delivery.key);
      return later(delivery, this.ports, wordsOf(error), 'failed');
    });
    if (!('answer' in reached)) return reached;
    const { answer, caller, entry, host, door } = reached;
    if (answer.outcome === 'unknown') this.ports.receivers.doubt(caller, delivery.buyerRnc);
    await this.ports.checkpoint('answered');
    const ending = await this.#judge.answer(delivery, answer, () =>
      this.ports.receivers.moved(caller, entry, 'receptionUrl'),
    );
    if (door !== null && answer.outcome !== 'unauthorized') visit.tell(door, 'alive');
    if (host !== null) visit.tell(host, ending.sign);
    return ending;
  }

  /** Up to the answer. */
  async #reach(
    delivery: ClaimedDelivery,
    visit: Pick<HostVisit, 'enter' | 'tell'>,
    found: { host: string | null },
  ): Promise<Ending | Deferral | Reached> {
    const caller = await this.#caller.of(delivery);
    if (typeof caller === 'string') {
      const ending = later(delivery, this.ports, caller, 'no_certificate');
      return { ...ending, conclusion: { ...ending.conclusion, needsCertificate: true } };
    }
    let entry: DirectoryEntry | null;
    try {
      // It came while its buyer was believed to have no receiver, and waited for the first look-up of its own.
      const unasked = delivery.status === 'no_receiver' && delivery.tries === 1;
      const missSince = unasked ? delivery.createdAt : null;
      entry = await this.ports.receivers.find(caller, delivery.buyerRnc, 'receptionUrl', missSince);
    } catch (error) {
      return later(delivery, this.ports, wordsOf(error), error instanceof LoginError ? 'login' : 'directory');
    }
    const baseUrl = entry?.receptionUrl ?? null;
    if (entry === null || baseUrl === null) return withoutReceiver(delivery, this.ports);
    const host = receivingHost(entry);
    const door = admittingHost(entry);
    found.host = host;
    const deferredAt = visit.enter([...new Set([host, door])].filter((one) => one !== null));
    if (deferredAt !== null) return { deferredAt };
    let xml: Uint8Array;
    try {
      xml = await this.ports.issuedXml.get(delivery.xml.path, delivery.xml.sha256);
    } catch (error) {
      return later(delivery, this.ports, `The stored document cannot be read: ${wordsOf(error)}`, 'archive');
    }
    const { issuerRnc, encf } = delivery.key;
    try {
      const answer = await this.ports.receivers.admitted(caller, entry, (token) =>
        this.ports.buyers.deliverDocument({ baseUrl, token, issuerRnc, encf, xml }),
      );
      return { answer, caller, entry, host, door };
    } catch (error) {
      const { trouble, pauseMs } = error instanceof ReceiverLoginError ? error : REFUSED;
      // A refused login says nothing about what others find there.
      const sign = trouble === 'refused' ? 'unknown' : 'failing';
      const ending = later(delivery, this.ports, wordsOf(error), 'token', sign, { pauseMs });
      if (door !== null) visit.tell(door, ending.sign);
      return ending;
    }
  }
}
