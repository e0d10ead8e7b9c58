import { Unwritable } from '../errors.js';
import type { ClaimedDelivery, Delivery } from './delivery.js';
import { type Ending, later } from './delivery-ending.js';
import type { DeliveryPorts, HostedConclusion } from './delivery-ports.js';

/** Milliseconds between tries to write down what a receiver answered. */
const RECORDING_PAUSE_MS = { first: 250, longest: 4_000 };
/** So often it is tried once the process ends. */
const TRIES_AT_THE_END = 4;

/** Writes down how attempts ended. */
export class RecordDelivery {
  constructor(private readonly ports: DeliveryPorts) {}

  /** The ending as it stands in the row by now. What the database can never take is left out, and it is tried again later. */
  async written(
    delivery: ClaimedDelivery,
    ending: Ending,
    host: string | null,
  ): Promise<Ending & { readonly after: Delivery }> {
    try {
      return { ...ending, after: await this.#record(delivery, { ...ending.conclusion, host }) };
    } catch (error) {
      if (!(error instanceof Unwritable)) throw error;
      this.ports.deliveryObserver.failed('writing down how a delivery ended', error, delivery.key);
      const { sign, pauseMs, conclusion } = ending;
      const status = conclusion.acknowledgement === null ? delivery.status : 'unacknowledged';
      const words = `What came of it cannot be written down: ${error.message}`;
      const again = later(delivery, this.ports, words, 'unwritable', sign, { status, pauseMs });
      return { ...again, after: await this.ports.deliveries.conclude(delivery, { ...again.conclusion, host: null }) };
    }
  }

  /** What a buyer answered is written down however long the database is away: to lose it means to send again. */
  async #record(delivery: ClaimedDelivery, conclusion: HostedConclusion): Promise<Delivery> {
    const { first, longest } = RECORDING_PAUSE_MS;
    let left = TRIES_AT_THE_END;
    for (let pause = first; ; pause = Math.min(pause * 2, longest)) {
      try {
        return await this.ports.deliveries.conclude(delivery, conclusion);
      } catch (error) {
        if (this.ports.ending()) left -= 1;
        if (conclusion.acknowledgement === null || error instanceof Unwritable || left <= 0) throw error;
        this.ports.deliveryObserver.failed("writing down a buyer's answer, which is tried again,", error, delivery.key);
        await this.ports.wait(pause);
      }
    }
  }
}
