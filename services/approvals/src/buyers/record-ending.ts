import { Unwritable } from '../errors.js';
import type { ClaimedDelivery, Delivery } from './delivery.js';
import { type Ending, later } from './delivery-ending.js';
import type { DeliveryPorts, HostedConclusion } from './delivery-ports.js';

/** Milliseconds between tries to record a receiver's answer. */
const RECORDING_PAUSE_MS = { first: 250, longest: 4_000 };
/** Tries that are left once the process stops. */
const TRIES_WHILE_STOPPING = 4;

type RecordPorts = Pick<
  DeliveryPorts,
  'deliveries' | 'deliveryObserver' | 'deliverySettings' | 'clock' | 'random' | 'wait' | 'stopping'
>;

/** Records an ending. The database never takes some values: such an answer is left out, and the document is sent again later. */
export async function recordEnding(
  ports: RecordPorts,
  delivery: ClaimedDelivery,
  ending: Ending,
  host: string | null,
): Promise<Ending & { readonly after: Delivery }> {
  try {
    return { ...ending, after: await recordWithRetries(ports, delivery, { ...ending.conclusion, host }) };
  } catch (error) {
    if (!(error instanceof Unwritable)) throw error;
    ports.deliveryObserver.failed('recording how a delivery ended', error, delivery.key);
    const { health, pauseMs, conclusion } = ending;
    const status = conclusion.acknowledgement === null ? delivery.status : 'unacknowledged';
    const words = `The result cannot be recorded: ${error.message}`;
    const again = later(delivery, ports, words, 'unwritable', health, { status, pauseMs });
    return { ...again, after: await ports.deliveries.conclude(delivery, { ...again.conclusion, host: null }) };
  }
}

/** A lost acknowledgement would mean sending the document again, so recording it is tried until the database is back. */
async function recordWithRetries(
  ports: RecordPorts,
  delivery: ClaimedDelivery,
  conclusion: HostedConclusion,
): Promise<Delivery> {
  const { first, longest } = RECORDING_PAUSE_MS;
  let left = TRIES_WHILE_STOPPING;
  for (let pause = first; ; pause = Math.min(pause * 2, longest)) {
    try {
      return await ports.deliveries.conclude(delivery, conclusion);
    } catch (error) {
      if (ports.stopping()) left -= 1;
      if (conclusion.acknowledgement === null || error instanceof Unwritable || left <= 0) throw error;
      ports.deliveryObserver.failed("recording a buyer's answer (it is tried again)", error, delivery.key);
      await ports.wait(pause);
    }
  }
}
