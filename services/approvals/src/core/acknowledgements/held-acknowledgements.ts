import type { AcknowledgementStore, DeliveryPorts, HeldAcknowledgement } from '../deliveries/delivery-ports.js';

/** Milliseconds between looks for what the XML store did not take yet. */
const PAUSE_MS = 1_000;
/** An acknowledgement has some four kilobytes. */
const AT_ONCE = 20;

/**
 * Brings acknowledgements that came while the XML store refused them into it, as soon as it takes them. Paths name the
 * bytes and the store keeps what it has, so instances may do the same at once.
 */
export function createArchiving(
  acknowledgements: Pick<AcknowledgementStore, 'held' | 'release'>,
  ports: Pick<DeliveryPorts, 'archive' | 'deliveryObserver'>,
) {
  let stopping = false;
  let endPause: () => void = () => undefined;
  let stopped: Promise<void> = Promise.resolve();
  /** One that is refused again does not stand in the way of the others: the next look begins after it. */
  let after = 0;

  async function look(): Promise<boolean> {
    const held = await acknowledgements.held(after, AT_ONCE);
    for (const acknowledgement of held) {
      if (stopping) return false;
      after = acknowledgement.id;
      await archive(acknowledgement);
    }
    if (held.length < AT_ONCE) after = 0;
    return held.length === AT_ONCE;
  }

  async function archive({ id, path, bytes }: HeldAcknowledgement): Promise<void> {
    await ports.archive.put(path, bytes);
    await acknowledgements.release([id]);
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      const more = await look().catch((error) => {
        ports.deliveryObserver.failed("storing buyers' answers that wait in their rows", error);
        return false;
      });
      if (!more && !stopping) await pause();
    }
  }

  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, PAUSE_MS);
      endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  return {
    start(): void {
      stopped = loop();
    },
    /** Ends after the one that is being stored. */
    async stop(): Promise<void> {
      stopping = true;
      endPause();
      await stopped;
    },
  };
}
